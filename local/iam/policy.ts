/** Policy documents and their evaluation, as IAM does it: an explicit deny wins, then an allow is needed. */

type Values = string | readonly string[];

export type Statement = {
  Effect: "Allow" | "Deny";
  Action?: Values;
  Resource?: Values;
  Condition?: Readonly<Record<string, Readonly<Record<string, Values>>>>;
};

export type PolicyDocument = { Statement: Statement | readonly Statement[] };

/** Condition keys and their values in a request, such as `iam:PassedToService`; some have several. */
export type Context = Readonly<Record<string, Values>>;

export type Decision = "allow" | "deny" | "no match";

/** Evaluates policy statements for one action on one resource. */
export const decide = (
  statements: readonly Statement[],
  action: string,
  resource: string,
  context: Context = {},
): Decision => {
  const matching = statements.filter((statement) => applies(statement, action, resource, context));
  if (matching.some(({ Effect }) => Effect === "Deny")) return "deny";
  return matching.some(({ Effect }) => Effect === "Allow") ? "allow" : "no match";
};

const applies = (statement: Statement, action: string, resource: string, context: Context): boolean => {
  const { Action, Resource, Condition = {} } = statement;
  return (
    isAnyLike(Action, action, "i") &&
    isAnyLike(Resource, resource) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => isSatisfied(operator, values, context[key])),
    )
  );
};

/**
 * Compares a condition with a key's values in the request. When the request lacks the key, three kinds of
 * operators hold: negated ones, "for all values", and those ending with "IfExists". Operators that are not
 * known here never hold.
 */
const isSatisfied = (operator: string, values: Values, actual: Values | undefined): boolean => {
  if (operator === "Null") return [values].flat().includes(String(actual === undefined));
  const [, qualifier, name = "", ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  const matches = comparisons[name];
  if (matches === undefined) return false;
  if (actual === undefined) {
    if (qualifier !== undefined) return qualifier === "ForAllValues";
    return ifExists !== undefined || name.includes("Not");
  }
  const given = [actual].flat();
  const isMatching = (each: string) => matches(values, each);
  return qualifier === "ForAnyValue" ? given.some(isMatching) : given.every(isMatching);
};

const isOneOf = (values: Values, text: string): boolean => [values].flat().includes(text);

const comparisons: Readonly<Record<string, (values: Values, text: string) => boolean>> = {
  StringEquals: isOneOf,
  StringNotEquals: (values, text) => !isOneOf(values, text),
  StringLike: (values, text) => isAnyLike(values, text),
  StringNotLike: (values, text) => !isAnyLike(values, text),
};

const isAnyLike = (patterns: Values | undefined, text: string, flags = ""): boolean =>
  [patterns ?? []].flat().some((pattern) => isLike(pattern, text, flags));

/** Patterns as expressions; a template has few patterns, and a transaction is compared with them hundreds of times. */
const expressions = new Map<string, RegExp>();

/** Matches text with a pattern of IAM: `*` stands for any characters, `?` for one. */
const isLike = (pattern: string, text: string, flags: string): boolean => {
  const known = expressions.get(pattern + flags);
  if (known !== undefined) return known.test(text);
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const compiled = new RegExp(`^${expression}$`, `s${flags}`);
  expressions.set(pattern + flags, compiled);
  return compiled.test(text);
};
