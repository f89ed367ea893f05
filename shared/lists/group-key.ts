/**
 * The group key of a member: the values of the fields that its list can be filtered by, joined to one word
 * such as `12-3-1`. A group is the decoded form: `{ domainId: 12, teamId: 3, isActive: true }`.
 */
import { versionAttribute } from "../contract/version.ts";

type Value = number | string | boolean | null;

export type GroupFields = Record<string, Value>;

/** How each field of a group is written. An `integer` may be null; a `word` has letters, digits and `_`. */
export type FieldKinds<G> = {
  [Name in keyof G]: [G[Name]] extends [boolean]
    ? "boolean"
    : [G[Name]] extends [number | null]
      ? "integer"
      : "word";
};
type Kind = "boolean" | "integer" | "word";

/** Attributes of a tally's rows that are not named after a group key. No group key may be one of these words. */
const reservedNames = new Set(["pk", "sk", "from", "writes", versionAttribute]);

export const isReserved = (name: string): boolean => reservedNames.has(name);

/** The order of the fields is stored: never change it. */
export const groupKeyCodec = <G extends GroupFields>(kinds: FieldKinds<G>) => {
  const names = Object.keys(kinds) as (keyof G & string)[];

  const encode = (group: G): string => {
    const groupKey = names.map((name) => encodeValue(group[name] as Value)).join("-");
    if (isReserved(groupKey))
      throw new Error(`"${groupKey}" is the name of an attribute: it cannot be a group key`);
    return groupKey;
  };

  const decode = (groupKey: string): G => {
    const words = groupKey.split("-");
    return Object.fromEntries(
      names.map((name, index) => [name, decodeValue(kinds[name], words[index] ?? "")]),
    ) as G;
  };

  /** Whether a group key matches a filter, which is called once for each distinct key. Without a filter all match. */
  const matcher = (matches: ((group: G) => boolean) | undefined): ((groupKey: string) => boolean) => {
    if (matches === undefined) return () => true;
    const known = new Map<string, boolean>();
    return (groupKey) => {
      let answer = known.get(groupKey);
      if (answer === undefined) {
        answer = matches(decode(groupKey));
        known.set(groupKey, answer);
      }
      return answer;
    };
  };

  return { encode, decode, matcher };
};

const encodeValue = (value: Value): string => {
  if (value === null) return "_";
  if (typeof value === "boolean") return value ? "1" : "0";
  const word = String(value);
  if (!/^\w+$/.test(word)) throw new Error(`A group key holds letters, digits and "_" only, not: ${word}`);
  return word;
};

const decodeValue = (kind: Kind, word: string): Value => {
  if (kind === "boolean") return word === "1";
  if (kind === "word") return word;
  return word === "_" ? null : Number(word);
};
