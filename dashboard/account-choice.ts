/**
 * Whether the identity provider is to ask which account it is. After a sign-out or a refusal it would give the same one
 * again, without a question.
 */

const key = "account-choice";

/** The next attempt asks. */
export const chooseAccount = (): void => keep("choose");

/** Whether this attempt asks. The one after it does not, unless it is refused. */
export function takeChoice(): boolean {
  const before = kept();
  if (before === "choose") keep("asked");
  if (before === "asked") keep(undefined);
  return before === "choose";
}

/** Some providers refuse the question. So after their own refusals, attempts with and without it take turns. */
export function noteRefusal({ status, code }: { status: number; code?: string | undefined }): void {
  const isByProvider = code === "provider_refused";
  const before = kept();
  if (status === 403 || (isByProvider && before === "refused")) keep("choose");
  else if (isByProvider) keep(before === "asked" ? undefined : "refused");
}

/** Browsers that keep nothing for pages throw. Then nobody is asked. */
function kept(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(value: "choose" | "asked" | "refused" | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {}
}
