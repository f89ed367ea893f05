/**
 * The cookie that binds attempts to sign in to the browser that started them: it keeps their secrets. It is not signed,
 * since a made-up secret belongs to no attempt (sign-in/attempt.ts).
 */
import { isPlainHttp } from "../../contract/plain-http.ts";
import { cookieValue, type Headers } from "./credential.ts";

/** So many tabs can sign in at the same time. */
const maximumAttempts = 4;
/** About as long as providers keep their own pages open. */
export const attemptSeconds = 15 * 60;

const name = (): string => (isPlainHttp() ? "sign-in" : "__Host-sign-in");

export const readAttempts = (event: Headers): string[] =>
  (cookieValue(event, name()) ?? "").split(".").filter((secret) => /^[\w-]{43}$/.test(secret));

/** The Set-Cookie header that keeps the first of the secrets; without any the browser forgets the cookie. */
export const attemptCookie = (secrets: readonly string[]): string =>
  `${name()}=${secrets.slice(0, maximumAttempts).join(".")}; ` +
  `Max-Age=${secrets.length > 0 ? attemptSeconds : 0}; Path=/; HttpOnly; ` +
  `SameSite=Strict${isPlainHttp() ? "" : "; Secure"}`;
