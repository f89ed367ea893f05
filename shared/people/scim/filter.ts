/** Filters (RFC 7644, 3.4.2.2), as far as `/ServiceProviderConfig` and docs/directory.md promise. */
import { type Filter, parse } from "scim2-parse-filter";
import { attributeName, readPath, schemas } from "./names.ts";
import { invalid } from "./problem.ts";

/** One comparison. `attribute`: `userName`, `emails.value`, `emails.work` (of type work), … */
export type Comparison = { attribute: string; op: "eq" | "sw" | "co"; value: string | boolean };

const compared = {
  User: {
    eq: [
      "id",
      "userName",
      "externalId",
      "displayName",
      "active",
      "emails",
      "emails.value",
      "emails.work",
      "manager",
      "name.familyName",
      "name.givenName",
      "name.formatted",
    ],
    names: ["userName", "displayName", "name.familyName", "name.givenName", "name.formatted"],
  },
  Group: { eq: ["id", "externalId", "displayName", "members", "members.value"], names: ["displayName"] },
} as const;

export type Kind = keyof typeof compared;

const maximumCharacters = 2_000;

/**
 * A text in quotes is JSON. Some clients do not escape the backslash of `"ACME\ada"`; then it is no JSON, or has
 * a control character, which no name has.
 */
const unquoted = (quoted: string): string => {
  try {
    const text: string = JSON.parse(quoted);
    if (!/\p{Cc}/u.test(text)) return text;
  } catch {}
  return quoted.slice(1, -1).replaceAll('\\"', '"');
};

/**
 * The filter with numbers in place of its texts, which are put into `texts`: the parser reads escapes otherwise.
 * Single words become texts too, since some clients leave out the quotes.
 */
const withoutTexts = (filter: string, texts: string[]): string => {
  const numbered = (text: string): string => `"${texts.push(text) - 1}"`;
  return filter.replace(
    /("(?:[^"\\]|\\.)*")|(\b(?:eq|sw|co)\s+)(?!null\b|")([^\s"()[\]]+)/gi,
    (_, quoted, start, word) =>
      quoted === undefined ? `${start}${numbered(word)}` : numbered(unquoted(quoted)),
  );
};

/** `emails[type eq "work"].value`, also without `.value`, becomes one name, since the parser takes it apart. */
const withWork = (text: string): string =>
  text.replace(/\bemails\[\s*type\s+eq\s+"work"\s*\](?:\.value)?(?=\s+eq\s)/gi, "emails.work");

/** The comparisons of a filter: every one must hold. Throws a `Problem` of `invalidFilter`. */
export const readFilter = (kind: Kind, text: string): Comparison[] => {
  if (text.length > maximumCharacters) throw invalid("invalidFilter", "filter: is too long");
  const texts: string[] = [];
  return comparisonsOf(kind, parsed(withWork(text), texts), texts);
};

const parsed = (text: string, texts: string[]): Filter => {
  try {
    return parse(withoutTexts(text, texts));
  } catch {
    throw invalid("invalidFilter", "filter: cannot be read");
  }
};

export type Equal = { attribute: string; value: string };

/**
 * The comparisons of a filter of entries, as in `emails[type eq "work"]`: `eq` alone, joined by `and`. Throws a
 * `Problem` of `invalidFilter`.
 */
export const readEqual = (text: string, attributes: readonly string[]): Equal[] => {
  const texts: string[] = [];
  const read = (filter: Filter): Equal[] => {
    if (filter.op === "and" && "filters" in filter) return filter.filters.flatMap(read);
    const attribute = "attrPath" in filter ? attributeName(filter.attrPath) : "";
    if (!("compValue" in filter) || filter.op !== "eq" || !attributes.includes(attribute))
      throw invalid("invalidFilter", `path: only eq on ${attributes.join(", ")} is supported, joined by and`);
    return [{ attribute, value: texts[Number(filter.compValue)] ?? "" }];
  };
  return read(parsed(text, texts));
};

const notSupported = (): Error =>
  invalid("invalidFilter", "filter: only eq, and sw and co on names, joined by and, are supported");

const comparisonsOf = (kind: Kind, filter: Filter, texts: readonly string[]): Comparison[] => {
  if (filter.op === "and" && "filters" in filter)
    return filter.filters.flatMap((each) => comparisonsOf(kind, each, texts));
  if (!("compValue" in filter)) throw notSupported();
  const { attrPath, op, compValue } = filter;
  const value = typeof compValue === "string" ? texts[Number(compValue)] : compValue;
  return [comparison(kind, nameIn(attrPath), op, value)];
};

/** The attribute of a path, without the schema in front of it. */
const nameIn = (path: string): string => {
  const [attribute = "", ...rest] = path.toLowerCase().startsWith("urn:") ? partsOf(path) : path.split(".");
  const name = [attribute, ...rest].map(attributeName).join(".");
  return name === "manager.value" ? "manager" : name;
};

const partsOf = (path: string): string[] => {
  const { schema, attribute, subAttribute } = readPath(path) ?? {};
  if (attribute === undefined || schema === schemas.service) throw notSupported();
  return [attribute, ...(subAttribute === undefined ? [] : [subAttribute])];
};

const comparison = (kind: Kind, attribute: string, op: string, value: unknown): Comparison => {
  const { eq, names } = compared[kind];
  const isKnown = (some: readonly string[]) => some.includes(attribute);
  const operator = op.toLowerCase();
  if (operator === "eq" ? !isKnown(eq) : !((operator === "sw" || operator === "co") && isKnown(names)))
    throw notSupported();
  if (attribute === "active") {
    const active = typeof value === "string" ? { true: true, false: false }[value.toLowerCase()] : value;
    if (typeof active !== "boolean")
      throw invalid("invalidFilter", "filter: active is compared with true or false");
    return { attribute, op: "eq", value: active };
  }
  if (typeof value !== "string")
    throw invalid("invalidFilter", `filter: ${attribute} is compared with a text`);
  return { attribute, op: operator as Comparison["op"], value };
};
