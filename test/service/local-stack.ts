/** What a local service tells about the stack that it runs. */
export type LocalStack = {
  /** The stack's CloudFormation outputs. */
  outputs: Record<string, string>;
  /** Where the service keeps its data, its logs and the e-mails that it sent. */
  dataDirectory: string;
};

export const readLocalStack = async (apiUrl: string): Promise<LocalStack> => {
  const reply = await fetch(new URL("/.local/stack", apiUrl));
  return (await reply.json()) as LocalStack;
};
