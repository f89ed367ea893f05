import { domainToUnicode } from "node:url";

/**
 * A domain name or an address for people, in both forms if it has two: `ada@münchen.example
 * (ada@xn--mnchen-3ya.example)`. The ASCII form is shown too, because letters of different scripts can
 * look the same.
 */
export const inBothForms = (text: string): string => {
  const start = text.lastIndexOf("@") + 1;
  const domain = text.slice(start);
  const written = /(?:^|\.)xn--/.test(domain) ? domainToUnicode(domain) : "";
  return written === "" || written === domain ? text : `${text.slice(0, start)}${written} (${text})`;
};
