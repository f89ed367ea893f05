type Grouped = { messageGroupId?: string };

/**
 * The order in which a fair queue gives out its messages: groups with few messages in flight come before
 * groups with many. So a busy or slow group can't hold up other groups. Within a group the order stays.
 */
export const orderFairly = <Message extends Grouped>(
  messages: Message[],
  inFlight: Iterable<{ message: Grouped }>,
): Message[] => {
  const [first] = messages;
  if (messages.every(({ messageGroupId }) => messageGroupId === first?.messageGroupId)) return messages;
  const counts = new Map<string | undefined, number>();
  const count = ({ messageGroupId: group }: Grouped): number => {
    const before = counts.get(group) ?? 0;
    counts.set(group, before + 1);
    return before;
  };
  for (const { message } of inFlight) count(message);
  return messages
    .map((message) => ({ message, rank: count(message) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ message }) => message);
};
