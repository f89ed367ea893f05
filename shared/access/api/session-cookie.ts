import { isPlainHttp } from "../../contract/plain-http.ts";

/** Browsers accept `__Host-` cookies over HTTPS only. */
export const cookieName = (): string => (isPlainHttp() ? "session" : "__Host-session");

const attributes = (): string => `Path=/; HttpOnly; SameSite=Lax${isPlainHttp() ? "" : "; Secure"}`;

/**
 * The Set-Cookie header of a new session. The cookie may outlive the session, whose end the server decides; it
 * lasts as long as a session can.
 */
export const sessionCookie = (value: string): string =>
  `${cookieName()}=${value}; Max-Age=${30 * 24 * 60 * 60}; ${attributes()}`;

/** The Set-Cookie header that makes the browser forget the session. */
export const clearCookie = (): string => `${cookieName()}=; Max-Age=0; ${attributes()}`;
