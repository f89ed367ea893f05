/** Conditions, changes and writes, and the expressions that they become in requests. */
import type { RefusalName } from "../../contract/errors.ts";
import { newestVersion, versionAttribute } from "../../contract/version.ts";
import type { Key } from "./keys.ts";

/**
 * A condition on one row, as a DynamoDB condition expression that writes every attribute as `#name`; the
 * placeholders need no declaration. A placeholder is one path segment of letters, digits and `_`:
 * `#findings.#12`. `names` maps a placeholder to its attribute when the attribute's name has other
 * characters.
 */
export type Condition = {
  expression: string;
  values?: Record<string, unknown>;
  names?: Record<string, string>;
};

/**
 * For example `condition("#status = :running AND attribute_exists(#pk)", { running: "running" })`. A write
 * with a condition that has a value `undefined` throws, since DynamoDB would refuse the expression.
 */
export const condition = (expression: string, values: Record<string, unknown> = {}): Condition => ({
  expression,
  values,
});

/** All conditions, joined with AND; `undefined` without any. Throws when values of one name differ. */
export const allOf = (...conditions: (Condition | undefined)[]): Condition | undefined => {
  const present = conditions.filter((each) => each !== undefined);
  if (present.length < 2) return present[0];
  const values: Record<string, unknown> = {};
  for (const each of present) {
    for (const [name, value] of Object.entries(each.values ?? {})) {
      if (name in values && values[name] !== value)
        throw new Error(`Two conditions give :${name} different values: rename one`);
      values[name] = value;
    }
  }
  const names = Object.assign({}, ...present.map((each) => each.names));
  return { expression: present.map((each) => `(${each.expression})`).join(" AND "), values, names };
};

export const exists: Condition = { expression: "attribute_exists(#pk)" };
export const absent: Condition = { expression: "attribute_not_exists(#pk)" };

/**
 * The condition that a row's attributes are still as they were read. A name may be a path, as of a change. A value
 * `undefined` means that the row must not have the attribute.
 */
export const asRead = (attributes: Record<string, unknown>): Condition => {
  const entries = Object.entries(attributes).map(([path, value], index) => {
    const segments = path.split(".").map((name, depth) => [`read${index}_${depth}`, name] as const);
    const name = segments.map(([alias]) => `#${alias}`).join(".");
    return { name, segments, value, placeholder: `read${index}` };
  });
  return {
    ...condition(
      entries
        .map(({ name, value, placeholder }) =>
          value === undefined ? `attribute_not_exists(${name})` : `${name} = :${placeholder}`,
        )
        .join(" AND "),
      Object.fromEntries(
        entries.flatMap(({ value, placeholder }) => (value === undefined ? [] : [[placeholder, value]])),
      ),
    ),
    names: Object.fromEntries(entries.flatMap(({ segments }) => segments)),
  };
};

/**
 * What an update does. A name with dots is a path: `findings.12` is the entry `12` of the map `findings`,
 * which must exist. `undefined` values and empty sets are left out.
 */
export type Change = {
  set?: Record<string, unknown>;
  /** Sets each attribute that the row does not have yet. */
  setOnce?: Record<string, unknown>;
  /** Adds to numbers (a missing one counts as 0) and unites sets. */
  add?: Record<string, number | Set<number> | Set<string>>;
  remove?: string[];
  if?: Condition | undefined;
};

export type Item = Record<string, unknown>;

/**
 * One write of a transaction. When its condition fails, the transaction throws the `Refusal` of this name if
 * `refusal` is given, else `TransactionRefused`. `until`: ISO 8601; no try of the transaction begins later,
 * because others then rely on it being over.
 */
export type Write = { refusal?: RefusalName; until?: string } & (
  | { put: Key & Item; if?: Condition | undefined }
  | ({ update: Key } & Change)
  | { delete: Key; if?: Condition | undefined }
  | { check: Key; if: Condition }
);

/** The write with an update in place of a put, for roles that may only update (decision 0043). */
export const byUpdate = (write: Write): Write => {
  if (!("put" in write)) return write;
  const { put, ...rest } = write;
  const { pk, sk, ...set } = put;
  return { ...rest, update: { pk, sk }, set };
};

type Expressions = {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
};

/**
 * The number of the next entry, short: DynamoDB takes expressions of 4 KB. One that counts the changes of a
 * hundred findings has four hundred names, and as many values.
 */
const numbered = (entries: object): string => Object.keys(entries).length.toString(36);

/** Collects the names and values that the expressions of one request refer to. */
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, unknown> = {};

  path(path: string): string {
    return path
      .split(".")
      .map((segment) => {
        // Names of entries of maps have any length and characters.
        const alias = /^\w{1,50}$/.test(segment) ? `#${segment}` : `#c${numbered(this.names)}`;
        this.names[alias] = segment;
        return alias;
      })
      .join(".");
  }

  value(value: unknown): string {
    const alias = `:c${numbered(this.values)}`;
    this.values[alias] = value;
    return alias;
  }

  expression(given: Condition): string {
    for (const match of given.expression.matchAll(/#(\w+)/g)) {
      if (match[1] !== undefined) this.names[`#${match[1]}`] = given.names?.[match[1]] ?? match[1];
    }
    for (const [name, value] of Object.entries(given.values ?? {})) {
      if (value === undefined) throw new Error(`Condition value :${name} is undefined: ${given.expression}`);
      this.values[`:${name}`] = value;
    }
    return given.expression;
  }

  /** The request fields. DynamoDB refuses empty maps, so that these are left out. */
  fields(): Pick<Expressions, "ExpressionAttributeNames" | "ExpressionAttributeValues"> {
    return {
      ...(Object.keys(this.names).length > 0 && { ExpressionAttributeNames: this.names }),
      ...(Object.keys(this.values).length > 0 && { ExpressionAttributeValues: this.values }),
    };
  }
}

/** A row of a newer version stays as it is, also where nobody has read it before the write. */
const isNotNewer: Condition = {
  expression: `attribute_not_exists(#${versionAttribute}) OR #${versionAttribute} <= :newestVersion`,
  values: { newestVersion },
};

/** The condition of any write. A row that is absent has no version. */
const guarded = (given: Condition | undefined): Condition =>
  given === absent ? given : (allOf(given, isNotNewer) ?? isNotNewer);

export const conditionFields = (given: Condition | undefined): Expressions => {
  const placeholders = new Placeholders();
  const expression = placeholders.expression(guarded(given));
  return { ConditionExpression: expression, ...placeholders.fields() };
};

export const changeFields = (change: Change): Expressions & { UpdateExpression?: string } => {
  const placeholders = new Placeholders();
  const given = (record: Record<string, unknown> = {}): [string, unknown][] =>
    Object.entries(record).filter(
      ([, value]) => value !== undefined && !(value instanceof Set && value.size === 0),
    );
  const set = Object.entries(change.set ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([path, value]) => `${placeholders.path(path)} = ${placeholders.value(value)}`);
  const setOnceTo = ([path, value]: [string, unknown]): string => {
    const name = placeholders.path(path);
    return `${name} = if_not_exists(${name}, ${placeholders.value(value)})`;
  };
  const setOnce = given(change.setOnce).map(setOnceTo);
  const add = given(change.add).map(
    ([path, value]) => `${placeholders.path(path)} ${placeholders.value(value)}`,
  );
  const remove = (change.remove ?? []).map((path) => placeholders.path(path));
  const clause = (verb: string, actions: string[]): string[] =>
    actions.length === 0 ? [] : [`${verb} ${actions.join(",")}`];
  const isChange = [set, setOnce, add, remove].some((actions) => actions.length > 0);
  const version = isChange ? [setOnceTo([versionAttribute, newestVersion])] : [];
  const update = [
    ...clause("SET", [...set, ...setOnce, ...version]),
    ...clause("ADD", add),
    ...clause("REMOVE", remove),
  ].join(" ");
  const expression = placeholders.expression(guarded(change.if));
  return {
    ...(update !== "" && { UpdateExpression: update }),
    ConditionExpression: expression,
    ...placeholders.fields(),
  };
};

/** The row of a write, as a text that is different for each row. */
export const rowOf = (write: Write): string => {
  const { pk, sk } = keyOf(write);
  return `${pk} / ${sk}`;
};

export const keyOf = (write: Write): Key => {
  if ("put" in write) return write.put;
  if ("update" in write) return write.update;
  if ("delete" in write) return write.delete;
  return write.check;
};
