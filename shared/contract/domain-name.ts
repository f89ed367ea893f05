/** Internationalized domain names in both their forms: as people write them, and in ASCII, as DNS and the table have them. */
import { domainToASCII, domainToUnicode } from "node:url";

/**
 * A domain name with its labels in ASCII (`xn--…`, RFC 5891). A label that stands for another one than it shows, such as
 * `ａｃｍｅ` for `acme`, stays as it is, and so is no domain name.
 */
export const asciiDomain = (name: string): string => name.split(".").map(asciiLabel).join(".");

const asciiLabel = (label: string): string => {
  if (!/[^\0-\x7f]/.test(label)) return label;
  const ascii = domainToASCII(label);
  return ascii.startsWith("xn--") && domainToUnicode(ascii) === folded(label) ? ascii : label;
};

/** Only case and how letters with marks are composed may differ. By character, since no label depends on its context. */
const folded = (label: string): string =>
  Array.from(label, (character) => character.toLowerCase())
    .join("")
    .normalize("NFC");

/** An e-mail address with its domain in ASCII. What is in front of the `@` stays as it is. */
export const asciiAddress = (address: string): string => {
  const domain = address.lastIndexOf("@") + 1;
  return domain === 0 ? address : address.slice(0, domain) + asciiDomain(address.slice(domain));
};

/**
 * A name or address for people: `ada@münchen.example (ada@xn--mnchen-3ya.example)`. Always in both forms, because letters of one
 * script look like those of another. Names without the form for people stay as they are.
 */
export const inBothForms = (text: string): string => {
  const domain = text.lastIndexOf("@") + 1;
  if (!/(?:^|\.)xn--/.test(text.slice(domain))) return text;
  const written = domainToUnicode(text.slice(domain));
  return written === "" || written === text.slice(domain)
    ? text
    : `${text.slice(0, domain)}${written} (${text})`;
};
