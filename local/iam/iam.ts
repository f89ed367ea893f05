/**
 * What the roles of the template's functions may do: identity-based policies of their own only.
 */
import type { Assembly } from "../template/assembly.ts";
import { type Context, type Decision, decide, type PolicyDocument, type Statement } from "./policy.ts";

/** The access key id of the administrator's commands, which may do everything. */
export const administrator = "local-admin";

/** The secret key of every caller. Whoever can reach the front can read the keys as well. */
export const secretAccessKey = "local";

/** The token of every caller: functions have temporary credentials on AWS. */
export const sessionToken = "local-session";

export type Permission = {
  /** Such as `dynamodb:PutItem`. */
  action: string;
  /** ARNs; the permission is given if any of them is allowed. Nearly always one. */
  resources: readonly string[];
  context?: Context;
};

export type Iam = {
  /** Whether an access key id belongs to a caller, and the token to it. A function's access key id is its name. */
  knows(accessKeyId: string, token: string | undefined): boolean;
  /** Why the caller may not do this, in AWS's words; undefined if it may. */
  refusal(accessKeyId: string, permission: Permission): string | undefined;
};

type Caller = { roleArn: string; statements: Statement[] };

export const openIam = (assembly: Assembly): Iam => {
  const callers = readCallers(assembly);

  return {
    knows: (accessKeyId, token) =>
      token === sessionToken && (accessKeyId === administrator || callers.has(accessKeyId)),
    refusal: (accessKeyId, permission) => {
      if (accessKeyId === administrator) return undefined;
      const caller = callers.get(accessKeyId);
      if (caller === undefined) return "The security token included in the request is invalid.";
      const decision = decideForAny(caller.statements, permission);
      if (decision === "allow") return undefined;
      const role = caller.roleArn.slice(caller.roleArn.lastIndexOf("/") + 1);
      const user = `arn:aws:sts::${assembly.accountId}:assumed-role/${role}/${accessKeyId}`;
      return describeRefusal(user, permission, decision);
    },
  };
};

/** The template's functions by name, with what their roles say. */
const readCallers = (assembly: Assembly): Map<string, Caller> =>
  new Map(
    assembly.ofType<{ Role: string }>("AWS::Lambda::Function").map(({ logicalId, properties }) => {
      const statements = statementsOf(assembly, properties.Role);
      return [assembly.physicalId(logicalId), { roleArn: properties.Role, statements }];
    }),
  );

type RoleProperties = { Policies?: { PolicyDocument: PolicyDocument }[] };

/** The policy statements within a role of the template; none for any other role. */
export const statementsOf = (assembly: Assembly, roleArn: string): Statement[] => {
  const logicalId = assembly.logicalIdOf(roleArn);
  if (logicalId === undefined) return [];
  const { Policies = [] } = assembly.resource<RoleProperties>(logicalId).properties;
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
};

const decideForAny = (
  statements: readonly Statement[],
  { action, resources, context }: Permission,
): Decision => {
  const decisions = resources.map((resource) => decide(statements, action, resource, context));
  return decisions.find((decision) => decision === "allow") ?? decisions[0] ?? "no match";
};

const describeRefusal = (user: string, { action, resources }: Permission, decision: Decision): string => {
  const reason =
    decision === "deny"
      ? "with an explicit deny in an identity-based policy"
      : `because no identity-based policy allows the ${action} action`;
  return `User: ${user} is not authorized to perform: ${action} on resource: ${resources[0]} ${reason}`;
};
