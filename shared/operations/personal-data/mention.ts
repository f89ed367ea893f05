/** Where a row mentions an e-mail address, and the row without it. */
import type { Item } from "../../aws/table/condition.ts";

/** What stands in place of an address that was erased. */
const erased = "[erased]";

export type Mention = {
  /** Whether a text is the address or has it as a word. `b@acme.com` is not in `bob@acme.com`. */
  isIn: (value: unknown) => boolean;
  /** A value of whatever shape with every mention replaced. */
  replaced: <T>(value: T) => T;
};

/**
 * What an address can have in front of its `@` besides letters and digits, by RFC 5322; texts also put it
 * around addresses.
 */
const marks = "[.!#$%&'*+/=?^`{|}~-]+";

/** `address` is compared without case. */
export const mentionOf = (address: string): Mention => {
  const text = address.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  const end = `${text}(?![\\w-]|\\.[\\w-])`;
  // Marks belong to another address behind a letter or digit, and where nothing else is there.
  const pattern = `(?<!\\w|\\w${marks}|^${marks}(?=${end}$))${end}`;
  const any = new RegExp(pattern, "i");
  const all = new RegExp(pattern, "gi");
  const isIn = (value: unknown): boolean => {
    if (typeof value === "string") return any.test(value);
    if (Array.isArray(value) || value instanceof Set) return [...value].some(isIn);
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return false;
    return Object.entries(value).some(([name, each]) => isIn(name) || isIn(each));
  };
  const replaced = <T>(value: T): T => {
    if (!isIn(value)) return value;
    if (typeof value === "string") return value.replaceAll(all, erased) as T;
    if (Array.isArray(value)) return value.map(replaced) as T;
    if (value instanceof Set) return new Set([...value].map(replaced)) as T;
    return Object.fromEntries(
      Object.entries(value as Item).map(([name, each]) => [replaced(name), replaced(each)]),
    ) as T;
  };
  return { isIn, replaced };
};
