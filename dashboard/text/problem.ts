/** What the service refuses about a part of a request, in words for whoever fills in a form. */

/**
 * Such as { path: "config.url", text: "must be a URL" } for "config.url: must be a URL"; undefined for a
 * sentence about no part.
 */
export function partRefused(message: string): { path: string; text: string } | undefined {
  const [, path, text] = /^([\w-]+(?:\.[\w-]+)*): (.+)$/s.exec(message) ?? [];
  return path === undefined || text === undefined ? undefined : { path, text };
}

/** Names of parts that people know under another name. */
const written: Readonly<Record<string, string>> = { url: "The URL", host: "The host", port: "The port" };

/** A sentence from the refusal of a field: "Name must be a domain name." for "must be a domain name". */
export function sentenceAbout(label: string, text: string): string {
  const begun = begin(label, text);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

function begin(label: string, text: string): string {
  const [first = ""] = text.split(" ", 1);
  if (/^(?:must|is|has|can|does|holds|contains)$/.test(first)) return `${label} ${text}`;
  if (first in written) return `${written[first]}${text.slice(first.length)}`;
  // A name such as gmail.com stays as it is.
  return /^[a-z]+$/.test(first) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
