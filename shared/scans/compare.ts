import type { Email } from "../emails/record.ts";
import type { EmailChange } from "../queue/messages.ts";

/**
 * What an answer from upstream changes for an e-mail. `breachIds`: the breaches that the answer says it is in.
 * `isTold`: whether the answer would say it of a breach: single look-ups leave out some kinds, which are not gone when they are
 * missing. Undefined when nothing changes.
 */
export const compare = (
  email: Pick<Email, "id" | "findings" | "gone">,
  breachIds: ReadonlySet<number>,
  { isTold }: { isTold: (breachId: number) => boolean },
): EmailChange | undefined => {
  const found: number[] = [];
  const back: number[] = [];
  const gone = missing(email, breachIds).filter(isTold);
  for (const id of breachIds) {
    if (email.findings[id] === undefined) found.push(id);
    else if (email.gone?.has(id)) back.push(id);
  }
  if (found.length + back.length + gone.length === 0) return undefined;
  return { emailId: email.id, found, gone, back };
};

/** The breaches that an e-mail was in until now, and of which an answer says nothing. */
export const missing = (email: Pick<Email, "findings" | "gone">, breachIds: ReadonlySet<number>): number[] =>
  Object.keys(email.findings)
    .map(Number)
    .filter((id) => !breachIds.has(id) && !email.gone?.has(id));
