import type { Email } from "../emails/record.ts";
import type { EmailChange } from "../queue/messages.ts";

/**
 * What an answer from upstream changes for an e-mail. `breachIds`: the breaches that the answer says it is in.
 * `complete`: only the answer of a domain search can say that a breach is gone (single look-ups leave out some kinds).
 * Undefined when nothing changes.
 */
export const compare = (
  email: Pick<Email, "id" | "findings" | "gone">,
  breachIds: ReadonlySet<number>,
  { complete }: { complete: boolean },
): EmailChange | undefined => {
  const found: number[] = [];
  const back: number[] = [];
  const gone: number[] = [];
  for (const id of breachIds) {
    if (email.findings[id] === undefined) found.push(id);
    else if (email.gone?.has(id)) back.push(id);
  }
  if (complete) {
    for (const key of Object.keys(email.findings)) {
      const id = Number(key);
      if (!breachIds.has(id) && !email.gone?.has(id)) gone.push(id);
    }
  }
  if (found.length + back.length + gone.length === 0) return undefined;
  return { emailId: email.id, found, gone, back };
};
