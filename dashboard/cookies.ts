/**
 * Whether the browser keeps cookies of this page. `cookieEnabled` is true in Chromium also where it blocks
 * them: so one is tried.
 */
export function keepsCookies(): boolean {
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API.
    document.cookie = "probe=kept; Max-Age=1; SameSite=Strict";
    return document.cookie.includes("probe=kept");
  } catch {
    return false;
  }
}
