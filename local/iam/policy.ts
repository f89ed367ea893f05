/** Policy documents and their evaluation, as IAM does it: an explicit deny wins, then an allow is needed. */

type Values = string | readonly string[];

export type Statement = {
  Effect: "Allow" | "Deny";
  Action?: Values;
  NotAction?: Values;
  Resource?: Values;
  NotResource?: Values;
  Condition?: Readonly<Record<string, Readonly<Record<string, Values>>>>;
};

export type PolicyDocument = { Statement: Statement | readonly Statement[] };

/** Condition keys and their values in a request, such as `iam:PassedToService`. */
export type Context = Readonly<Record<string, string>>;

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
  const { Action, NotAction, Resource, NotResource, Condition = {} } = statement;
  const isAction =
    NotAction === undefined ? isAnyLike(Action, action, "i") : !isAnyLike(NotAction, action, "i");
  const isResource =
    NotResource === undefined ? isAnyLike(Resource, resource) : !isAnyLike(NotResource, resource);
  return (
    isAction &&
    isResource &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => isSatisfied(operator, values, context[key])),
    )
  );
};

/**
 * Compares text with a key's value in the request. A condition on a key that the request does not have, or
 * with another operator, counts as satisfied.
 */
const isSatisfied = (operator: string, values: Values, actual: string | undefined): boolean => {
  if (operator === "Null") return [values].flat().includes(String(actual === undefined));
  if (actual === undefined) return true;
  // A request has one value per key here, so "for all values" and "for any value" mean the same.
  switch (operator.replace(/^For(AllValues|AnyValue):|IfExists$/g, "")) {
    case "StringEquals":
      return [values].flat().includes(actual);
    case "StringNotEquals":
      return ![values].flat().includes(actual);
    case "ArnEquals":
    case "ArnLike":
    case "StringLike":
      return isAnyLike(values, actual);
    case "StringNotLike":
      return !isAnyLike(values, actual);
    default:
      return true;
  }
};

const isAnyLike = (patterns: Values | undefined, text: string, flags = ""): boolean =>
  [patterns ?? []].flat().some((pattern) => isLike(pattern, text, flags));

/** Matches text with a pattern of IAM: `*` stands for any characters, `?` for one. */
const isLike = (pattern: string, text: string, flags: string): boolean => {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, `s${flags}`).test(text);
};
