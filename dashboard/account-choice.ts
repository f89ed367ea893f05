/**
 * Whether the identity provider is to ask which account it is. After a sign-out or a refusal it would give the same one
 * again, without a question.
 */

import { store, stored } from "./stored.ts";

const key = "account-choice";
const kept = (): string | null => stored(key);
const keep = (value: "choose" | "asked" | "refused" | null): void => void store(key, value);

/** The next attempt asks. */
export const chooseAccount = (): void => keep("choose");

/** Whether this attempt asks. The one after it does not, unless it is refused. */
export function takeChoice(): boolean {
  const before = kept();
  if (before === "choose") keep("asked");
  if (before === "asked") keep(null);
  return before === "choose";
}

/** Some providers refuse the question. So after their own refusals, attempts with and without it take turns. */
export function rememberRefusal({ status, code }: { status: number; code?: string | undefined }): void {
  const isByProvider = code === "provider_refused";
  const before = kept();
  if (status === 403 || (isByProvider && before === "refused")) keep("choose");
  else if (isByProvider) keep(before === "asked" ? null : "refused");
}
