/** Internationalized domain names as people write them. Browsers have no function that reads their ASCII form. */

/**
 * A name or address in both forms if its domain has two: `ada@münchen.example (ada@xn--mnchen-3ya.example)`.
 * Both, because letters of one script look like those of another.
 */
export function inBothForms(text: string): string {
  const start = text.lastIndexOf("@") + 1;
  const domain = text.slice(start);
  if (!/(?:^|\.)xn--/.test(domain)) return text;
  const written = domain.replace(
    /(?<=^|\.)xn--([^.]*)/g,
    (label, encoded: string) => decode(encoded) ?? label,
  );
  return written !== domain && asciiOf(written) === domain
    ? `${text.slice(0, start)}${written} (${text})`
    : text;
}

/**
 * The domain in what people paste: `acme.example` for `https://www.acme.example/contact` and for `ada@acme.example`.
 */
export const domainIn = (pasted: string): string =>
  pasted
    .trim()
    .replace(/[\u3002\uff0e\uff61]/g, ".")
    .replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/i, "")
    .replace(/[/?#].*$/s, "")
    .replace(/^.*@/, "")
    .replace(/:\d+$/, "")
    .replace(/^www\.(?=.*\.)/i, "");

/** The ASCII form of a domain name; any other text stays as it is. */
export function asciiOf(name: string): string {
  const url = `https://${name}`;
  return URL.canParse(url) ? new URL(url).hostname : name;
}

const digits = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Decodes Punycode (RFC 3492, 6.2); undefined if it is none. Its names and numbers are the document's. */
function decode(encoded: string): string | undefined {
  const basic = encoded.lastIndexOf("-");
  const output = [...encoded.slice(0, Math.max(0, basic))];
  let [n, i, bias, position] = [0x80, 0, 72, basic + 1];
  while (position < encoded.length) {
    const before = i;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = digits.indexOf(encoded[position++] ?? "-");
      if (digit < 0) return undefined;
      i += digit * weight;
      const threshold = Math.min(Math.max(k - bias, 1), 26);
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const length = output.length + 1;
    let delta = Math.floor((i - before) / (before === 0 ? 700 : 2));
    delta += Math.floor(delta / length);
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35);
    bias += Math.floor((36 * delta) / (delta + 38));
    n += Math.floor(i / length);
    i %= length;
    if (n > 0x10_ffff) return undefined;
    output.splice(i++, 0, String.fromCodePoint(n));
  }
  return output.join("");
}
