/** Who is signed in. Tabs tell each other, so that a link that was opened in one lets all go on. */
import { computed, signal } from "@preact/signals";
import { chooseAccount } from "./account-choice.ts";
import { access, lapsed, showSignedOut } from "./api/access.ts";
import { asFailure, call } from "./api/client.ts";
import { Failure } from "./api/failure.ts";
import type { Session } from "./api/routes.ts";

export const session = signal<Session | undefined>(undefined);
export const sessionFailure = signal<Failure | undefined>(undefined);
export const isAdmin = computed(() => session.value?.user.role === "admin");
/** Not the opposite of `isAdmin`: as long as nobody is known to be signed in, neither is true. */
export const isMember = computed(() => session.value?.user.role === "member");

/** Undefined where the browser has none for this page, as with cookies blocked. */
const tabs = openTabs();

function openTabs(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel("session");
  } catch {
    return undefined;
  }
}

/** Resolves to why nobody is known to be signed in, if so. */
export async function loadSession(): Promise<Failure | undefined> {
  try {
    const loaded = await call("GET /dashboard/session", {}, { whenSignedOut: "fail" });
    const before = session.value;
    const isOther =
      before !== undefined &&
      (before.user.id !== loaded.user.id || before.organization.id !== loaded.organization.id);
    // What is on the screen belongs to somebody else.
    if (isOther) {
      location.reload();
      return undefined;
    }
    session.value = loaded;
    sessionFailure.value = undefined;
    lapsed.value = loaded.organization.billing.reason ?? undefined;
    // Requests that wait go on.
    access.value = "signed in";
    return undefined;
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 401) showSignedOut();
    else sessionFailure.value = failure;
    return failure;
  }
}

/** After somebody signed in in this tab. @throws Failure */
export async function enter(): Promise<void> {
  const failure = await loadSession();
  if (failure?.status === 401)
    throw new Failure("You signed in, but the browser kept no cookie of it. Allow cookies for this site.", {
      status: -1,
    });
  if (failure !== undefined) throw failure;
  tabs?.postMessage("signed in");
}

/** @throws Failure */
export async function signOut(): Promise<void> {
  await call("DELETE /dashboard/session", {}, { whenSignedOut: "fail" }).catch((error: unknown) => {
    if (asFailure(error).status !== 401) throw error;
  });
  chooseAccount();
  session.value = undefined;
  lapsed.value = undefined;
  access.value = "signed out";
}

/** Looks again whether somebody signed in elsewhere, or renewed a subscription that has lapsed. */
export function watchSession(): void {
  const look = (): void => {
    const isShut = access.value === "ended" || access.value === "signed out" || lapsed.value !== undefined;
    if (isShut && document.visibilityState === "visible") void loadSession();
  };
  // Also of a tab that shows somebody else's data: it has the new cookie, too.
  tabs?.addEventListener("message", () => void loadSession());
  addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
}
