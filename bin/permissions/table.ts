/** What each function may do, read from the template that CloudFormation gets. */

type Statement = {
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
};
type Resource = { Type: string; Properties: Record<string, unknown> };
export type Template = { Resources: Record<string, Resource> };

/** Every function may write its own logs, and those that people wait for send traces. */
const ofEveryFunction = /^(logs|xray):/;

/** A Markdown table with a row for each statement of each function's role. */
export const permissionTable = ({ Resources }: Template): string => {
  const rows = Object.values(Resources)
    .filter(({ Type }) => Type === "AWS::Lambda::Function")
    .map(({ Properties }) => ({
      name: String(Properties.FunctionName).replace(/^breach-monitor-[a-z0-9]+-/, ""),
      statements: statementsOf(Resources[roleOf(Properties.Role)]),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ name, statements }) => statements.map((statement) => rowOf(name, statement)));
  return `${[
    "# Permissions of functions",
    "Written by `npm run permissions -- --write` from the template; a test holds that it is up to date. Every function may also write its own logs, and with `-c senderEmail` those whose contracts use `email` or `email-confirmation` may send from that address.",
    ["| Function | Actions | On | Condition |", "|---|---|---|---|", ...rows].join("\n"),
    "",
  ]
    .join("\n\n")
    .trimEnd()}\n`;
};

const roleOf = (role: unknown): string => (role as { "Fn::GetAtt": [string, string] })["Fn::GetAtt"][0];

const statementsOf = (role: Resource | undefined): Statement[] => {
  const policies = (role?.Properties.Policies ?? []) as { PolicyDocument: { Statement: Statement[] } }[];
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => ![Action].flat().every((action) => ofEveryFunction.test(action)));
};

const rowOf = (name: string, { Action, Resource, Condition = {} }: Statement): string => {
  const [service = ""] = [Action].flat().map((action) => action.split(":")[0]);
  const actions = [Action].flat().map((action) => action.split(":")[1]);
  const conditions = Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(
      ([key, values]) =>
        `${operator} ${key} ${[values]
          .flat()
          .map((value) => `\`${textOf(value)}\``)
          .join(" ")}`,
    ),
  );
  const resources = [Resource].flat().map((each) => `\`${textOf(each)}\``);
  return `| ${name} | ${service}: ${actions.join(", ")} | ${resources.join(" ")} | ${conditions.join("; ")} |`;
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
