/**
 * What the roles of the template's functions may do. Identity-based policies only, evaluated as IAM does: an explicit deny wins,
 * then an allow is needed. AWS's own managed policies count for nothing; they cover logs and traces, which don't exist here.
 */
import type { Assembly } from "./assembly.ts";

/** The access key id of the administrator's commands, which may do everything. */
export const administrator = "local-admin";

export type Permission = {
  /** Such as `dynamodb:PutItem`. */
  action: string;
  /** ARNs any of which will do; nearly always one. */
  resources: readonly string[];
  /** Condition keys and their values in the request, such as `iam:PassedToService`. */
  context?: Readonly<Record<string, string>>;
};

export type Iam = {
  /** Whether this access key id belongs to anybody. A function's is its name. */
  knows(accessKeyId: string): boolean;
  /** Why the caller may not do this, in AWS's words; undefined if it may. */
  refusal(accessKeyId: string, permission: Permission): string | undefined;
};

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

type RoleProperties = { ManagedPolicyArns?: string[]; Policies?: { PolicyDocument: PolicyDocument }[] };
type PolicyProperties = { PolicyDocument: PolicyDocument; Roles?: string[] };

export function openIam(assembly: Assembly): Iam {
  const callers = new Map<string, { roleArn: string; statements: Statement[]; conditional: boolean }>();
  for (const { logicalId, properties } of assembly.ofType<{ Role: string }>("AWS::Lambda::Function")) {
    const statements = statementsOf(assembly, properties.Role);
    callers.set(assembly.physicalId(logicalId), {
      roleArn: properties.Role,
      statements,
      conditional: statements.some(({ Condition }) => Condition !== undefined),
    });
  }
  const decisions = new Map<string, "allow" | "deny" | "no match">();

  function refusal(accessKeyId: string, permission: Permission): string | undefined {
    if (accessKeyId === administrator) return undefined;
    const caller = callers.get(accessKeyId);
    if (caller === undefined) return "The security token included in the request is invalid.";
    const { action, resources } = permission;
    const key = JSON.stringify([accessKeyId, caller.conditional ? permission : { action, resources }]);
    let decision = decisions.get(key);
    if (decision === undefined) {
      decision = decideForAny(caller.statements, permission);
      // Schedule names and rows make keys of their own; all others are as few as the product's calls.
      if (decisions.size < 10_000) decisions.set(key, decision);
    }
    if (decision === "allow") return undefined;
    const role = caller.roleArn.slice(caller.roleArn.lastIndexOf("/") + 1);
    const reason =
      decision === "deny"
        ? "with an explicit deny in an identity-based policy"
        : `because no identity-based policy allows the ${action} action`;
    return `User: arn:aws:sts::${assembly.accountId}:assumed-role/${role}/${accessKeyId} is not authorized to perform: ${action} on resource: ${resources[0]} ${reason}`;
  }

  return {
    knows: (accessKeyId) => accessKeyId === administrator || callers.has(accessKeyId),
    refusal,
  };
}

/** What a role of the template may do; nothing, if it is none. */
export function statementsOf(assembly: Assembly, roleArn: string): Statement[] {
  const logicalId = assembly.logicalIdOf(roleArn);
  if (logicalId === undefined) return [];
  const roleName = assembly.physicalId(logicalId);
  const { properties: role } = assembly.resource<RoleProperties>(logicalId);
  const attached = assembly
    .ofType<PolicyProperties>("AWS::IAM::Policy")
    .filter(({ properties }) => properties.Roles?.includes(roleName));
  const managed = assembly
    .ofType<PolicyProperties>("AWS::IAM::ManagedPolicy")
    .filter(
      (policy) =>
        policy.properties.Roles?.includes(roleName) ||
        role.ManagedPolicyArns?.includes(assembly.arn(policy.logicalId)),
    );
  return [...(role.Policies ?? []), ...[...attached, ...managed].map(({ properties }) => properties)].flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
}

function decideForAny(
  statements: readonly Statement[],
  { action, resources, context = {} }: Permission,
): "allow" | "deny" | "no match" {
  const decisions = resources.map((resource) => decide(statements, action, resource, context));
  return decisions.find((decision) => decision === "allow") ?? decisions[0] ?? "no match";
}

/** Evaluates policy statements for one action on one resource. */
export function decide(
  statements: readonly Statement[],
  action: string,
  resource: string,
  context: Readonly<Record<string, string>>,
): "allow" | "deny" | "no match" {
  const matching = statements.filter((statement) => applies(statement, action, resource, context));
  if (matching.some(({ Effect }) => Effect === "Deny")) return "deny";
  return matching.some(({ Effect }) => Effect === "Allow") ? "allow" : "no match";
}

function applies(
  statement: Statement,
  action: string,
  resource: string,
  context: Readonly<Record<string, string>>,
): boolean {
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
}

/** Comparisons of text with a key that the request has are made; any other condition counts as satisfied. */
function isSatisfied(operator: string, values: Values, actual: string | undefined): boolean {
  if (actual === undefined) return true;
  // Permissions have one value of a key: what holds for any of its values holds for all.
  switch (operator.replace(/^For(AllValues|AnyValue):/, "")) {
    case "StringEquals":
      return [values].flat().includes(actual);
    case "StringNotEquals":
      return ![values].flat().includes(actual);
    case "ArnEquals":
    case "ArnLike":
    case "StringLike":
      return isAnyLike(values, actual);
    default:
      return true;
  }
}

function isAnyLike(patterns: Values | undefined, text: string, flags = ""): boolean {
  return [patterns ?? []].flat().some((pattern) => isLike(pattern, text, flags));
}

/** Matches text with a pattern of IAM: `*` is any characters, `?` one. */
function isLike(pattern: string, text: string, flags: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, `s${flags}`).test(text);
}
