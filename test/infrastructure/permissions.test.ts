/** Which functions may write the rows that decide who may do what, and where alerts go. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { permissionTable } from "../../bin/permissions/table.ts";
import { keyNamesIn } from "../../local/dynamodb/rows.ts";
import { requiredPermissions, type TransactionKeys, transactionKeys } from "../../local/front/permissions.ts";
import { decide } from "../../local/iam/policy.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import { functionsOf, permissionsOf, statementsOf, synthesize } from "./stacks.ts";

const assembly = synthesize("production");

/** The functions whose role lets them do this with the row, naming these attributes. */
const allowed = (action: string, { pk }: Key, attributes: readonly string[] = ["pk", "sk"]): string[] => {
  const table = assembly.arn(assembly.ofType("AWS::DynamoDB::Table")[0]?.logicalId ?? "");
  const context = { "dynamodb:LeadingKeys": pk, "dynamodb:Attributes": attributes };
  return [...functionsOf(assembly)]
    .filter(([, { Role }]) => {
      const statements = statementsOf(assembly, Role);
      return decide(statements, action, table, pk === undefined ? {} : context) === "allow";
    })
    .map(([name]) => name)
    .sort();
};

type Entry =
  | { put: object }
  | { update: Key; expression: string; names?: Record<string, string> }
  | { check: Key; names: readonly string[] }
  | { delete: Key };

/** The functions whose role allows a transaction of these rows, with the keys that IAM may see per write. */
const allowedTogether = (entries: readonly Entry[], seen: TransactionKeys, stack = assembly): string[] => {
  const table = stack.ofType("AWS::DynamoDB::Table")[0]?.logicalId ?? "";
  const TableName = stack.physicalId(table);
  const wired = (row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, { S: String(value) }]));
  const TransactItems = entries.map((entry) => {
    if ("put" in entry) return { Put: { TableName, Item: wired(entry.put) } };
    if ("delete" in entry) return { Delete: { TableName, Key: wired(entry.delete) } };
    if ("update" in entry) {
      const { expression: UpdateExpression, names: ExpressionAttributeNames } = entry;
      return { Update: { TableName, Key: wired(entry.update), UpdateExpression, ExpressionAttributeNames } };
    }
    const names = Object.fromEntries(entry.names.map((name) => [`#${name}`, name]));
    const ConditionExpression = Object.keys(names).join(" = :x AND ");
    return {
      ConditionCheck: {
        TableName,
        Key: wired(entry.check),
        ConditionExpression,
        ExpressionAttributeNames: names,
      },
    };
  });
  const needed = requiredPermissions(
    { service: "dynamodb", method: "POST", url: "/", target: "TransactWriteItems", body: { TransactItems } },
    stack,
    keyNamesIn(stack),
    seen,
  );
  return [...functionsOf(stack)]
    .filter(([, { Role }]) => {
      const statements = statementsOf(stack, Role);
      return needed.every(
        ({ action, context }) => decide(statements, action, stack.arn(table), context) === "allow",
      );
    })
    .map(([name]) => name)
    .sort();
};

const writersOfIdentities = [
  "add-passkey",
  "begin-passkey",
  "begin-passkey-sign-in",
  "change-member",
  "create-api-key",
  "create-sign-in-link",
  "end-session",
  "invite-member",
  "mail-sign-in-link",
  "redeem-passkey",
  "redeem-provider-code",
  "redeem-sign-in-link",
  "remove-member",
  "remove-passkey",
  "resend-invitation",
  "revoke-api-key",
  "revoke-other-sessions",
  "revoke-session",
  "sweep",
];
const writersOfDomains = [
  "add-domain",
  "check-domain",
  "check-emails",
  "look-up-emails",
  "plan-scan",
  "remove-domain",
  "sweep",
];
const writersOfEmails = [
  "add-email",
  "change-email",
  "change-emails",
  "commit-import",
  "follow-directories",
  "watch-unwatched",
];
const identities = [
  keys.apiKey(1, "hash"),
  keys.session(1, 7, "hash"),
  keys.user(1, 7),
  keys.signInLink("hash"),
  keys.signInAddress("ada@acme.example", 1),
  keys.signInIdentity("identity", 1),
  keys.signInMail("id"),
  keys.passkeyChallenge("challenge"),
];

test.each(identities)("$pk: only functions of signing in and of members put and delete it", (key) => {
  expect(allowed("dynamodb:PutItem", key)).toEqual(writersOfIdentities);
  expect(allowed("dynamodb:DeleteItem", key)).toEqual(writersOfIdentities);
});

test("notices are written by those whose changes they tell of, and by no others", () => {
  const writersOfChannels = [
    "change-alert-config",
    "create-alert-config",
    "delete-alert-config",
    "deliver-alert",
    "retry-alert",
    "set-alert-options",
  ];
  const writers = [...writersOfIdentities, ...writersOfChannels].sort();
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"])
    expect(allowed(`dynamodb:${action}`, keys.notice("id"))).toEqual(writers);
  for (const seen of ["own", "all"] as const) {
    const moved = [{ put: keys.notice("id") }, { put: keys.channel(1, 3) }];
    expect(allowedTogether(moved, seen)).toEqual([...writersOfChannels, "sweep"].sort());
  }
});

test("beside them only the authorizer updates keys and sessions, and no users", () => {
  for (const key of [keys.apiKey(1, "hash"), keys.session(1, 7, "hash")]) {
    expect(allowed("dynamodb:UpdateItem", key)).toEqual(["authorize", ...writersOfIdentities].sort());
  }
  expect(allowed("dynamodb:UpdateItem", keys.user(1, 7))).toEqual(writersOfIdentities);
});

test("the authorizer notes the use of a key or session, and cannot make or revive one", () => {
  const key = keys.apiKey(1, "hash");
  const used = ["pk", "sk", "v", "lastUsedAt", "expiresAt"];
  expect(allowed("dynamodb:UpdateItem", key, used)).toContain("authorize");
  for (const attribute of ["revokedAt", "onlyReads", "endsAt", "id", "label", "userId"]) {
    expect(allowed("dynamodb:UpdateItem", key, [...used, attribute])).toEqual(writersOfIdentities);
  }
});

test("directories note their use alone, and only admins' functions write their tokens", () => {
  const row = keys.connectedDirectory(1, 1);
  const writers = ["change-directory", "connect-directory", "disconnect-directory", "sweep"];
  expect(allowed("dynamodb:PutItem", row)).toEqual(writers);
  expect(allowed("dynamodb:DeleteItem", row)).toEqual(writers);
  const used = ["pk", "sk", "v", "lastUsedAt"];
  expect(allowed("dynamodb:UpdateItem", row, used)).toEqual([...writers, "scim"].sort());
  for (const attribute of ["hash", "teamFrom", "place"])
    expect(allowed("dynamodb:UpdateItem", row, [...used, attribute])).toEqual(writers);
  expect(allowed("dynamodb:UpdateItem", keys.session(1, 7, "hash"), used)).not.toContain("scim");
});

test("links of recipients change what recipients say, and nothing else", () => {
  const links = ["confirm-recipient", "unsubscribe-recipient"];
  const recipient = keys.recipient(1, "name");
  const said = ["pk", "sk", "v", "secret", "consent"];
  expect(allowed("dynamodb:UpdateItem", recipient, said)).toEqual(expect.arrayContaining(links));
  expect(allowed("dynamodb:PutItem", recipient, said)).not.toEqual(expect.arrayContaining(links));
  for (const link of links) {
    expect(allowed("dynamodb:UpdateItem", recipient, [...said, "email"])).not.toContain(link);
    expect(allowed("dynamodb:UpdateItem", keys.member(1, "FINDING", 1, 1))).not.toContain(link);
  }
});

test("only two functions write the row of an organization, and the list of all", () => {
  const writers = ["change-organization", "sweep"];
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"])
    expect(allowed(`dynamodb:${action}`, keys.organizations(1))).toEqual(writers);
  expect(allowed("dynamodb:UpdateItem", keys.organization(1))).toEqual(writers);
});

test("no function puts an organization's row anew, and one alone deletes it", () => {
  const row = { ...keys.organization(1), id: 1, name: "Acme" };
  expect(allowed("dynamodb:PutItem", keys.organization(1), Object.keys(row))).toEqual([]);
  expect(allowed("dynamodb:DeleteItem", keys.organization(1))).toEqual(["sweep"]);
  for (const seen of ["own", "all"] as const) {
    expect(allowedTogether([{ put: row }], seen)).toEqual([]);
    expect(allowedTogether([{ delete: keys.organization(1) }], seen)).toEqual(["sweep"]);
    expect(allowedTogether([{ put: row }, { put: { ...keys.seats(1), active: 1 } }], seen)).toEqual([]);
  }
});

test("renaming an organization and its log entry pass, whichever keys IAM sees", () => {
  const rename = {
    update: keys.organization(1),
    expression: "SET #name = :name",
    names: { "#name": "name" },
  };
  const entry = { update: keys.member(1, "ACTIVITY", 1, 1), expression: "SET summary = :summary" };
  for (const seen of ["own", "all"] as const)
    expect(allowedTogether([rename, entry], seen)).toEqual(["change-organization", "sweep"]);
});

test.each([
  "SET billing = :free",
  "SET id = :id, mailBudget.hour = :many",
  "REMOVE signIn",
  "REMOVE scanEvery, sessionHours",
  "SET #name = :name ADD billing.seatAllowance :many",
])("an update with names instead of placeholders is seen: %s", (expression) => {
  const names = { "#name": "name" };
  expect(allowedTogether([{ update: keys.organization(1), expression, names }], "own")).toEqual([]);
});

test("no function writes billing, mail budget or ways to sign in of an organization", () => {
  for (const action of ["PutItem", "UpdateItem"]) {
    for (const attribute of ["billing", "mailBudget", "signIn", "sessionHours"])
      expect(allowed(`dynamodb:${action}`, keys.organization(1), ["pk", attribute])).toEqual([]);
  }
});

test.each([
  keys.domain(1, 2),
  keys.domainName(1, "acme.example"),
  keys.domainRemoval(1, 2),
  keys.provenDomain("acme.example"),
])("$pk: only functions of domains and of scans write it", (key) => {
  const writers = writersOfDomains;
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(allowed(`dynamodb:${action}`, key)).toEqual(writers);
  }
});

test("only functions of alert channels and of alerts write channels", () => {
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(allowed(`dynamodb:${action}`, keys.channel(1, 3))).toEqual([
      "change-alert-config",
      "create-alert-config",
      "delete-alert-config",
      "deliver-alert",
      "retry-alert",
      "set-alert-options",
      "sweep",
    ]);
  }
});

test("no function writes the operators' log, or reads the whole table", () => {
  const entry = keys.operatorEntry("2026-01-01T00:00:00.000Z", "id");
  for (const action of ["PutItem", "UpdateItem", "DeleteItem"]) {
    expect(allowed(`dynamodb:${action}`, entry)).toEqual([]);
  }
  expect(allowed("dynamodb:Scan", entry)).toEqual([]);
});

test("acknowledging writes findings, and cannot make a key of another organization", () => {
  expect(allowed("dynamodb:PutItem", keys.member(1, "FINDING", 1, 1))).toContain("acknowledge-breach");
  expect(allowed("dynamodb:PutItem", keys.apiKey(2, "hash"))).not.toContain("acknowledge-breach");
});

test("a write that names no key is refused", () => {
  expect(allowed("dynamodb:PutItem", {} as Key)).toEqual([]);
});

test("functions that only count requests write no other rows", () => {
  for (const name of ["authorize", "preview-import"]) {
    expect(allowed("dynamodb:UpdateItem", keys.limit("name", "window"))).toContain(name);
    expect(allowed("dynamodb:UpdateItem", keys.member(1, "EMAIL", 1, 1))).not.toContain(name);
  }
});

const email = { put: { ...keys.member(1, "EMAIL", 1, 1), email: "ada@acme.example" } };

describe.each(["own", "all"] as const)("with %s keys", (seen) => {
  test.each([
    [keys.apiKey(1, "hash"), writersOfIdentities],
    [keys.organization(1), []],
    [keys.organizations(1), ["change-organization", "sweep"]],
    [keys.domainName(1, "acme.example"), writersOfDomains],
    [keys.domain(1, 2), writersOfDomains],
    [keys.operatorEntry("2026-01-01T00:00:00.000Z", "id"), []],
  ])("writes $pk only for functions that may write it alone", (key, writers) => {
    for (const name of ["verified", "name", "verifiedBy"]) {
      expect(allowedTogether([email, { put: { ...key, [name]: true } }], seen)).toEqual(writers);
    }
  });

  test("writes an e-mail and checks its domain", () => {
    const check = { check: keys.domain(1, 2), names: ["plannedByScan", "verifiedAt", "v"] };
    const others = { put: { ...keys.seats(1), active: 1 } };
    expect(allowedTogether([email, check, others], seen)).toEqual(expect.arrayContaining(writersOfEmails));
  });
});

test("only if IAM sees all keys together may whoever adds e-mails remove a domain", () => {
  const both = [email, { delete: keys.domain(1, 2) }];
  expect(allowedTogether(both, "own")).toEqual(writersOfDomains);
  expect(allowedTogether(both, "all")).toEqual([...writersOfDomains, ...writersOfEmails].sort());
});

test("no function writes in a transaction of whose keys IAM sees none", () => {
  expect(allowedTogether([email], "none")).toEqual([]);
});

test("-c keyGuards=false: functions that write the table do so whatever IAM sees", () => {
  const stack = synthesize("unguarded", { keyGuards: "false" });
  const writers = [...functionsOf(assembly)]
    .filter(([, { Role }]) =>
      permissionsOf(assembly, Role).some((each) => each.startsWith("dynamodb:PutItem")),
    )
    .map(([name]) => name)
    .sort();
  for (const seen of transactionKeys) {
    expect(allowedTogether([email, { put: keys.apiKey(1, "hash") }], seen, stack)).toEqual(writers);
  }
  for (const row of [{ ...keys.organization(1), billing: "free" }, keys.organization(1)])
    expect(allowedTogether([{ put: row }], "own", stack)).toEqual([]);
});

test("every role has the permissions boundary that CDK's context names", () => {
  const boundary = { name: "acme-boundary" };
  const stack = synthesize("bounded", {}, { "@aws-cdk/core:permissionsBoundary": boundary });
  const roles = stack.resources.filter(({ Type }) => Type === "AWS::IAM::Role");
  expect(roles.length).toBeGreaterThan(30);
  for (const { Properties } of roles)
    expect(JSON.stringify(Properties)).toMatch(/"PermissionsBoundary":.*:policy\/acme-boundary"/);
});

test("docs/permissions.md is what the template says: npm run permissions -- --write", () => {
  const written = readFileSync(join(import.meta.dirname, "..", "..", "docs", "permissions.md"), "utf8");
  expect(written).toBe(permissionTable(assembly.template as Parameters<typeof permissionTable>[0]));
});
