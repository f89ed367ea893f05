/** Browsers accept `__Host-` cookies over HTTPS only. */
export const cookieName = (isPlainHttp: boolean): string => (isPlainHttp ? "session" : "__Host-session");

const attributes = (isPlainHttp: boolean): string =>
  `Path=/; HttpOnly; SameSite=Lax${isPlainHttp ? "" : "; Secure"}`;

/**
 * The Set-Cookie header of a new session. The cookie may outlive the session, whose end the server decides; it
 * lasts as long as a session can.
 */
export const setCookie = (value: string, isPlainHttp: boolean): string =>
  `${cookieName(isPlainHttp)}=${value}; Max-Age=${30 * 24 * 60 * 60}; ${attributes(isPlainHttp)}`;

/** The Set-Cookie header that makes the browser forget the session. */
export const clearCookie = (isPlainHttp: boolean): string =>
  `${cookieName(isPlainHttp)}=; Max-Age=0; ${attributes(isPlainHttp)}`;
