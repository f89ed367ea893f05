/** Internationalized domain names, which people write in any script, and DNS and the table have in ASCII. */

/**
 * A domain name with its labels in ASCII (`xn--…`, RFC 5891). A label that stands for another one than it shows, such as
 * `ａｃｍｅ` for `acme`, stays as it is, and so is no domain name.
 */
export const asciiDomain = (name: string): string => name.split(".").map(asciiLabel).join(".");

const asciiLabel = (label: string): string => {
  const url = `https://${label}`;
  if (isAscii(label) || !isPlain(label) || !URL.canParse(url)) return label;
  const { hostname } = new URL(url);
  return /^xn--[a-z0-9-]+$/.test(hostname) ? hostname : label;
};

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Without what a url splits at or decodes, without invisible characters, and without those that only look like others, such as `ﬁ`. */
const isPlain = (label: string): boolean =>
  !/[^a-z0-9\x80-\u{10ffff}-]|(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/iu.test(label) &&
  label.normalize("NFKC") === label.normalize("NFC");

/** An e-mail address with its domain in ASCII. What is in front of the `@` stays as it is. */
export const asciiAddress = (address: string): string => {
  const domain = address.lastIndexOf("@") + 1;
  return domain === 0 ? address : address.slice(0, domain) + asciiDomain(address.slice(domain));
};
