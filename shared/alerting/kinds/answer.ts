import { asLine } from "./as-line.ts";

/** What an HTTP receiver answered, as people may see it. */
export type Answer = { status: number; body: string };

const maximumBody = 200;

/** Shorter parts of a url, such as "hooks", are no secrets. */
const minimumSecret = 6;

/**
 * The first 200 characters of a response's text, in one line. Error pages often repeat the request: parts of
 * the url, values of headers and e-mail addresses are left out. The first two are secret, and no delivery
 * holds an address.
 */
export const shownBody = (
  text: string,
  { url, headers }: { url: URL; headers: Record<string, string> },
): string => {
  const sent = [
    url.pathname,
    url.search,
    ...url.pathname.split("/"),
    ...[...url.searchParams].flat(),
    ...Object.values(headers).flatMap((value) => [value, ...value.split(",")]),
  ];
  const secrets = sent
    .flatMap((each) => [each, decoded(each)])
    .filter(({ length }) => length >= minimumSecret)
    .sort((one, other) => other.length - one.length);
  const without = secrets.reduce((shown, secret) => shown.replaceAll(secret, "…"), text);
  // A pattern for whole addresses would take a time that grows with the square of the text.
  const words = without.split(/([\s"'<>]+)/).map((word) => (word.includes("@") ? "…" : word));
  return asLine(words.join(""), maximumBody, "");
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
