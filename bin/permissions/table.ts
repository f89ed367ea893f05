/** What functions may do, read from the template that CloudFormation gets. */

type Statement = {
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
};
type Resource = { Type: string; Properties: Record<string, unknown> };
export type Template = { Resources: Record<string, Resource> };

/** Every role may write the logs of its functions. */
const ofEveryFunction = /^logs:/;

/**
 * What each role may do, in Markdown: its functions, and the numbers of its statements. Each statement stands
 * once.
 */
export const permissionTable = ({ Resources }: Template): string => {
  const functions = Object.values(Resources)
    .filter(({ Type }) => Type === "AWS::Lambda::Function")
    .map(({ Properties }) => ({
      name: String(Properties.FunctionName).replace(/^breach-monitor-[a-z0-9]+-/, ""),
      role: textOf(Properties.Role),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const roles = [...Map.groupBy(functions, ({ role }) => role)]
    .map(([role, members]) => ({
      words: String(Resources[role]?.Properties.Description).replace(/^May /, ""),
      names: members.map(({ name }) => `\`${name}\``).join(", "),
      statements: statementsOf(Resources[role]),
    }))
    .sort((one, other) => (one.words < other.words ? -1 : 1));
  const all = roles.flatMap(({ statements }) => statements);
  const conditions = [...new Set(all.map(conditionOf).filter(Boolean))].sort();
  const rows = [...new Set(all.map((each) => rowOf(each, conditions)))].sort();
  return `${[
    "# Permissions of functions",
    "Written by `npm run permissions -- --write` from the template; a test holds that it is up " +
      "to date. Functions with the same words in `uses` have one role. Every role may also write " +
      "the logs of its functions, and with `-c senderEmail` those with `email` or " +
      "`email-confirmation` may send from that address.",
    "## Roles",
    [
      "| Functions | Words of `uses` | Statements |",
      "|---|---|---|",
      ...roles.map(({ names, words, statements }) => {
        const numbers = statements.map((each) => rows.indexOf(rowOf(each, conditions)) + 1);
        return `| ${names} | ${words} | ${numbers.join(", ")} |`;
      }),
    ].join("\n"),
    "## Statements",
    rows.map((row, at) => `${at + 1}. ${row}`).join("\n"),
    "## Conditions",
    conditions.map((text, at) => `${at + 1}. ${text}`).join("\n"),
  ].join("\n\n")}\n`;
};

const statementsOf = (role: Resource | undefined): Statement[] => {
  const policies = (role?.Properties.Policies ?? []) as { PolicyDocument: { Statement: Statement[] } }[];
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => ![Action].flat().every((action) => ofEveryFunction.test(action)));
};

const conditionOf = ({ Condition = {} }: Statement): string =>
  Object.entries(Condition)
    .flatMap(([operator, keys]) => Object.entries(keys).map(([key, values]) => ({ operator, key, values })))
    .map(({ operator, key, values }) => {
      const texts = [values].flat().map((value) => `\`${textOf(value)}\``);
      return `${operator} ${key} ${texts.join(" ")}`;
    })
    .join("; ");

const rowOf = (statement: Statement, conditions: readonly string[]): string => {
  const { Action, Resource } = statement;
  const [service = ""] = [Action].flat().map((action) => action.split(":")[0]);
  const actions = [Action].flat().map((action) => action.split(":")[1]);
  const resources = [Resource].flat().map((each) => `\`${textOf(each)}\``);
  const condition = conditions.indexOf(conditionOf(statement)) + 1;
  const restricted = condition === 0 ? "" : `, on condition ${condition}`;
  return `${service}: ${actions.join(", ")} of ${resources.join(" ")}${restricted}`;
};

/** A value of the template, with the logical id of each resource that it refers to. */
const textOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return String(value);
  const [[operator, argument] = ["", ""]] = Object.entries(value);
  if (operator === "Fn::GetAtt") return String((argument as string[])[0]);
  if (operator !== "Fn::Join") return String(argument);
  const [separator, parts] = argument as [string, unknown[]];
  // The template names region and account when the command line knows them.
  return parts
    .map(textOf)
    .join(separator)
    .replace(/\bAWS::(Partition|Region|AccountId)|\b[a-z]{2}-[a-z]+-\d\b|\b\d{12}\b/g, "*");
};
