/** Internationalized domain names, which people write in any script, and DNS and the table have in ASCII. */

/** A text with full stops in place of what keyboards of East Asia type between labels (RFC 3490, section 3.1). */
export const withFullStops = (text: string): string => text.replace(/[\u3002\uff0e\uff61]/g, ".");

/**
 * A domain name with its labels in ASCII (`xn--…`, RFC 5891) and full stops between them. A label that stands
 * for another one, such as `ａｃｍｅ` for `acme`, stays, and so is no domain name.
 */
export const asciiDomain = (name: string): string => withFullStops(name).split(".").map(asciiLabel).join(".");

const asciiLabel = (label: string): string => {
  const url = `https://${label}`;
  if (isAscii(label) || !isPlain(label) || !URL.canParse(url)) return label;
  const { hostname } = new URL(url);
  return /^xn--[a-z0-9-]+$/.test(hostname) ? hostname : label;
};

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * Whether a label has only what IDNA 2008 (RFC 5892) allows: letters, marks, digits, hyphens, joiners and
 * middle dots. None may be invisible, or stand for other letters, as the ligature `ﬁ` does.
 */
const isPlain = (label: string): boolean =>
  /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}-]|\u200c|\u200d|[·・])+$/u.test(label) &&
  label.normalize("NFKC") === label.normalize("NFC");

/** An e-mail address with its domain in ASCII. What is in front of the `@` stays as it is. */
export const asciiAddress = (address: string): string => {
  const domain = address.lastIndexOf("@") + 1;
  return domain === 0 ? address : address.slice(0, domain) + asciiDomain(address.slice(domain));
};
