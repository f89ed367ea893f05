/** What endpoints refuse as input, in words that name the field. input.test.ts has what holds for all of them. */
import { test } from "vitest";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import type { Endpoint, Route } from "../../shared/contract/endpoint.ts";
import type { RefusalName } from "../../shared/contract/errors.ts";
import { expectInvalid, expectMalformed } from "./invalid.ts";

const url = "https://192.0.32.8/";
const recipients = ["a@acme.example", "b@acme.example"];
/** No name holds what nobody sees, and none but an owner's holds a link (text.test.ts has their forms). */
const unseenNames = ["Ac\u200bme", "Acme \u202egpj.exe"];
const noNames = ["Pay at https://evil.example", "evil.example/login", ...unseenNames];
const importPlan = {
  emails: [{ email: "ada@demo.example", domainId: 1, status: "will_import" }],
  quote: { interval: "month", isEstimate: true, newSeatsCount: 1, newActiveCount: 1, estimatedDeltaCents: 0 },
};
const [row] = importPlan.emails;
const many = {
  ids: [["1"], [0]],
  "ids: must not be empty": [[]],
  "ids: must have at most 1000": [Array(1001).fill(1)],
  filter: [null, [], { breachID: 1 }, { acknowledged: false, scan: 1 }],
  "filter.ids: must not be empty": [[]],
  "filter.acknowledged": ["false"],
  "filter.breachId": [1.5],
  "filter.severity": [["worst"], [], Array(5).fill("low")],
  "filter.detectedBefore": ["2026-01-01T00:00:00", "2026-01-01"],
  reason: ["x".repeat(1001)],
  dryRun: [1],
};

/**
 * Routes of the API, a body that is valid, and values that are refused in each of its fields: by its name, or
 * how the error begins.
 */
const bodies: readonly [route: string, body: object, refused: Record<string, readonly unknown[]>][] = [
  [
    "POST /emails",
    { email: "ada@demo.example", domainId: 1 },
    {
      email: [
        ...[undefined, "", 7, ["ada@demo.example"], "demo.example", "a@b@demo.example", "a b@demo.example"],
        ...["a\nbcc@demo.example", "a\0@demo.example", "a\ud800@demo.example", "Ada <ada@demo.example>"],
        // The first letter only looks like ASCII when it is lower-cased.
        ...["\u212aate@demo.example", `${"a".repeat(255 - 13)}@demo.example`],
      ],
      domainId: [undefined, "demo.example"],
      teamId: [null],
      ownerName: [7, "x".repeat(201), "Ada\nLovelace", "Ada \udc00", ...unseenNames],
    },
  ],
  ["PATCH /emails/1", { ownerName: "x" }, { isActive: [undefined, "false", 0, null] }],
  [
    "POST /emails/import/commit",
    importPlan,
    {
      emails: [undefined, "x", { 0: row }, Array(501).fill(row)],
      "emails.0": ["ada@demo.example", null],
      "emails.0.email": [undefined, 7, "a".repeat(255), "a\u0000@demo.example", "\ud800@demo.example"],
      "emails.0.domainId": [undefined, "1", 1.5, -1, 2 ** 53],
      "emails.0.status": [undefined, "imported", null],
      "emails.0.ownerName": [7, null, "a".repeat(201), "a\nb", ...unseenNames],
      "emails.0.team": [7, null, " ", "a".repeat(101), ...noNames],
      quote: [undefined, null, []],
      "quote.interval": ["week"],
      "quote.isEstimate": ["true"],
      "quote.newSeatsCount": ["1"],
      "quote.newActiveCount": [1.5],
      "quote.estimatedDeltaCents": [null, undefined],
    },
  ],
  [
    "POST /breaches/acknowledge",
    { id: 1 },
    {
      id: [undefined, "1"],
      resolution: ["done", null, "Handled"],
      reason: ["x".repeat(1001), 7, "bell \u0007", "one\rtwo", "\ud83d"],
    },
  ],
  ["POST /breaches/acknowledgements", {}, { ...many, resolution: ["done"] }],
  ["POST /breaches/reopenings", {}, many],
  ["POST /alert-configs", { config: { url } }, { channel: [undefined, "sms"] }],
  [
    "POST /alert-configs",
    { channel: "webhook", config: { url } },
    {
      config: [undefined, [url]],
      "config.url": [undefined, "", [url]],
      "config.secret": [7, null, "x".repeat(1025), "\ud800", "line\n"],
      "config.secret: must be the base64 of at least 16 bytes": [
        ...["whsec_", "whsec_no base64 of any", `whsec_${btoa("x".repeat(15))}`],
      ],
      isEnabled: ["true"],
      notifyOnScanError: [1],
      notifyOnNewBreach: [null],
    },
  ],
  ["POST /alert-configs", { channel: "slack", config: { url } }, { "config.webhookUrl": [undefined] }],
  [
    "POST /alert-configs",
    { channel: "email", config: { recipients } },
    {
      "config.recipients": [undefined, "a@a.example", [], Array(21).fill("a@acme.example")],
      "config.recipients.0": ["acme.example", "a@a.example\r\nBcc: b@a.example"],
      "config.recipients.1: must be an e-mail address of a public domain": [
        ...["a@localhost", "a..b@a.example", ".a@a.example", "a.@a.example", "a@10.0.0.1"],
      ],
    },
  ],
  [
    "PATCH /alert-configs/1",
    { config: {} },
    {
      config: [[], null],
      "config.url": [null],
      "config.secret": ["whsec_T0KEN"],
      "config.recipients": [[]],
      channel: ["sms"],
      isEnabled: ["false"],
      notifyOnScanError: [null],
    },
  ],
  [
    "PUT /alert-configs/1/options",
    { name: null, minSeverity: "low", grouping: "scan", sensitive: "discreet", tellOwners: false },
    {
      name: [undefined, " ", "x".repeat(101), ...noNames],
      minSeverity: [undefined, "none"],
      grouping: [undefined, "month"],
      sensitive: [undefined, "silent"],
      tellOwners: [undefined, "yes"],
      details: [null, "yes"],
      "minSeverty: is an unknown field": ["high"],
    },
  ],
];

/** Routes of the API, how the error begins, which is the name of the parameter, and queries. */
const queries: readonly [route: string, error: string, refused: readonly string[]][] = [
  ["GET /emails", "isActive", ["isActive=TRUE", "isActive=1", "isActive=", "isActive=true&isActive=true"]],
  ["GET /emails", "domainId", ["domainId=demo.example", "domainId=0"]],
  ["GET /emails", "teamId", ["teamId=null", "teamId=-1"]],
  ["GET /emails", "breached", ["breached=yes", "breached=", "breached=true&breached=true"]],
  ["GET /emails", "order", ["order=severity", "order=", "order=worst,newest"]],
  ["GET /breaches", "acknowledged", ["acknowledged=yes", "acknowledged="]],
  ["GET /breaches", "severity", ["severity=high,worst", "severity=", "severity=high&severity=low"]],
  ["GET /breaches", "order", ["order=oldest"]],
  ["GET /breaches", "include", ["include=everything"]],
  ["GET /breaches", "breachId", ["breachId=x"]],
  ["GET /breaches", "scanId", ["scanId=last", "scanId=0", "scanId=1&scanId=2"]],
  ["GET /scans", "type", ["type=automatic", "type=", "type=Manual", "type=manual&type=scheduled"]],
  ["GET /scans", "status", ["status=done", "status=completed,failed"]],
  [
    "GET /activity",
    "category",
    ["category=billing", "category=", "category=Alerts", "category=alerts,teams"],
  ],
  ["GET /activity", "actor must be", ["actor=", "actor=0", "actor=ada", "actor=user", "actor=1,2"]],
  ["GET /activity", "from: must be an ISO 8601 time", ["from=", "from=2026-01-31", "from=yesterday"]],
  ["GET /activity", "to: must be an ISO 8601 time", ["to=", "to=2026-01-31"]],
  // In UTC their years have more than four digits.
  [
    "GET /activity",
    "to: must be of the years",
    ["to=9999-12-31T23:59:59-01:00", "to=0000-01-01T00:00:00%2B01:00"],
  ],
  ["GET /activity", "q", ["q=a", "q="]],
  ["GET /feed", "limit must be", ["limit=0", "limit=1001", "limit=x"]],
  ["GET /feed", "format must be native or ocsf", ["format=cef"]],
  ["GET /alert-configs", "include", ["include=everything"]],
];

const none = [undefined];
const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const named = (...names: unknown[]) => names.map((name) => ({ name }));
const long = "a".repeat(10_000);

/** Routes of the dashboard, what every refusal matches, and the inputs: bodies, or queries of GET. */
const dashboard: readonly [route: string, error: RegExp, inputs: readonly unknown[]][] = [
  ["POST /domains", /^name: must be a domain name/, named("ｇｍａｉｌ.com", "gmail.com\u200b", "example")],
  ["POST /domains", /^name: /, named("a b.example", "-a.example", `${"a".repeat(64)}.example`, "", 7)],
  ["POST /domains", /^name: is required/, [{}]],
  [
    "POST /teams",
    /^name: /,
    named(undefined, "", " ", 1, null, "x".repeat(101), "㌀".repeat(100), "a\u0007"),
  ],
  ["POST /teams", /^name: must not contain/, named(...noNames)],
  ["PATCH /teams/1", /^name: |at least one field/, [{}, ...named("", null, ...noNames)]],
  ["POST /api-keys", /^label: /, [{}, { label: "" }, { label: "  " }, { label: "x".repeat(101) }]],
  ["POST /api-keys", /^label: must not contain/, noNames.map((label) => ({ label }))],
  [
    "POST /api-keys",
    /^access: /,
    [
      { label: "X", access: "write" },
      { label: "X", access: null },
    ],
  ],
  [
    "POST /api-keys",
    /^expiresAt: must be/,
    ["2020-01-01T00:00:00Z", "2031-01-01", 1].map((expiresAt) => ({ label: "X", expiresAt })),
  ],
  ["GET /api-keys", /^limit/, ["limit=0", "limit=101", "limit=x"]],
  ["GET /api-keys", /^offset/, ["offset=-1"]],
  ["DELETE /api-keys/01", /^id/, none],
  ["POST /members", /^email: /, [{}, { email: "nobody", role: "member" }]],
  ["POST /members", /^role: /, [{ email: "a@b.example" }, { email: "a@b.example", role: "owner" }]],
  [
    "POST /members",
    /^name: /,
    ["", ...noNames].map((name) => ({ email: "a@b.example", role: "member", name })),
  ],
  ["PATCH /members/1", /^name: must not contain/, named(...noNames)],
  [
    "PATCH /members/1",
    /^role: |^name: |at least one/,
    [{}, { role: "owner" }, { role: null }, { name: " " }],
  ],
  ["PATCH /organization", /at least one field/, [{}, { other: 1 }]],
  ["PATCH /organization", /^name: /, named("", "x".repeat(101), "a\u0000", null, ...noNames)],
  ["PATCH /organization", /^scanEvery: must be day, week, or never/, [{ scanEvery: "hour" }]],
  ["GET /sessions", /^limit/, ["limit=101"]],
  ["DELETE /passkeys/__proto__", /^id: /, none],
  [
    "POST /sign-in/links",
    /^email: /,
    [undefined, null, 1, "", "nobody", "a@b@c", "ada@demo.example, alan@demo.example"].map((email) => ({
      email,
    })),
  ],
  ["POST /sign-in/sessions", /^organizationId: /, [{ token: "x", organizationId: "1" }]],
  ["GET /findings", /^acknowledged/, ["acknowledged=yes"]],
  [
    "GET /findings",
    /^(?:breach|domain|email|scan)Id/,
    ["breachId=x", "domainId=-1", "emailId=1.5", "scanId="],
  ],
  ["GET /findings", /^severity/, ["severity=worst", "severity=high&severity=low"]],
  ["GET /findings", /^order/, ["order=best"]],
  ["GET /findings/x", /^id/, none],
  ["POST /findings/tell", /ids/, [{}, ...[[], ids(101), ["1"], [0], 1].map((some) => ({ ids: some }))]],
  ["POST /findings/tell", /^dryRun/, [{ ids: [1], dryRun: "yes" }]],
  ["GET /breaches", /^state/, ["state=all"]],
  ["GET /breaches", /^severity/, ["severity=worst", "severity=high&severity=low"]],
  ["GET /breaches", /^order/, ["order=best"]],
  ["GET /breaches", /^q/, ["q=", "q=%CC%81", "q=%C2%B4", "q=e%00", `q=${long}`]],
  ["GET /breaches", /^assignee/, ["assignee=0", "assignee=nobody", "assignee=", "assignee=1,2"]],
  ["GET /breaches/x", /^id/, none],
  ["PUT /breaches/x/assignee", /^id/, [{ userId: null }]],
  ["PUT /breaches/1/assignee", /^userId: /, [{}, ...["1", 0, 1.5, [1]].map((userId) => ({ userId }))]],
  ["PUT /breaches/1/assignee", /^replaces: /, [{ userId: 1, replaces: "1" }]],
  ["GET /breaches/1/comments", /^limit/, ["limit=101"]],
  [
    "POST /breaches/1/comments",
    /^text: /,
    [
      {},
      ...["", "  \n", 1, "x".repeat(1001), "a\u0000", "a\u200bb", "a\u202eb"].map((some) => ({ text: some })),
    ],
  ],
  ["POST /exports", /^list: /, [{}, { list: "people", filter: {}, rows: 1 }]],
  [
    "POST /exports",
    /^rows: /,
    [undefined, -1, 1.5, "1"].map((rows) => ({ list: "findings", filter: {}, rows })),
  ],
  [
    "POST /exports",
    /^filter/,
    [undefined, [], { acknowledged: "false" }, { severity: ["worst"] }, { breachId: "1" }, { q: "ada" }].map(
      (filter) => ({ list: "findings", filter, rows: 1 }),
    ),
  ],
  [
    "POST /exports",
    /^filter/,
    [
      { q: "a" },
      { q: "a\u202eb" },
      { domainId: "1" },
      { teamId: 0 },
      { isActive: "true" },
      { order: "worst" },
    ].map((filter) => ({
      list: "emails",
      filter,
      rows: 1,
    })),
  ],
  [
    "POST /exports",
    /^(filter|actor)/,
    [
      { category: "none" },
      { actor: "me" },
      { from: "today" },
      { q: "a" },
      { q: "a\u0000b" },
      { q: "a\u202eb" },
      { limit: 1 },
    ].map((filter) => ({ list: "activity", filter, rows: 1 })),
  ],
  ["GET /emails", /^q/, ["q=a", "q=", "q=%CC%81%CC%81", `q=${long}`, "q=ab%00", "q=ab%1B", "q=a%20"]],
  ["GET /emails", /^q/, ["q=ada&q=alan"]],
  ["GET /emails", /^breached/, ["breached=yes", "breached=1"]],
  ["GET /emails", /^order/, ["order=severity", "order=most"]],
  ["GET /emails/x", /^id/, none],
  ["PATCH /emails/1", /at least one/, [{}]],
  ["PATCH /emails/1", /^teamId: /, [{ teamId: "1" }, { teamId: 0 }]],
  [
    "PATCH /emails/1",
    /^ownerName: /,
    [1, "x".repeat(201), ...unseenNames].map((ownerName) => ({ ownerName })),
  ],
  ["POST /emails/changes", /ids/, [{}, { ids: [], remove: true }, { ids: ids(501), remove: true }]],
  ["POST /emails/changes", /ids/, [{ ids: ["1"], set: { isActive: true } }]],
  [
    "POST /emails/changes",
    /./,
    [
      {},
      { set: {} },
      { remove: false },
      { set: { isActive: true }, remove: true },
      { set: { email: "x@demo.example" } },
      { set: { ownerName: "x".repeat(201) } },
      ...unseenNames.map((ownerName) => ({ set: { ownerName } })),
    ].map((change) => ({ ids: [1], ...change })),
  ],
  ["GET /unwatched", /^severity/, ["severity=worst", "severity=", "severity=high&severity=low"]],
  ["GET /unwatched", /^ignored/, ["ignored=1"]],
  ["GET /unwatched", /^order/, ["order=open"]],
  ["GET /unwatched", /^q: must have/, ["q=a", "q="]],
  ["GET /unwatched", /^breachId/, ["breachId=x"]],
  [
    "POST /unwatched/ignore",
    /^ids/,
    [
      { ids: [], ignored: true },
      { ids: ids(501), ignored: true },
    ],
  ],
  [
    "POST /unwatched/ignore",
    /^Exactly one of ids and filter/,
    [{ ignored: true }, { ids: [1], filter: {}, ignored: true }],
  ],
  ["POST /unwatched/ignore", /^filter/, [{ filter: { breach: 1 }, ignored: true }]],
  ["POST /unwatched/ignore", /^ignored/, [{ ids: [1] }, { ids: [1], ignored: "true" }]],
  ["POST /unwatched/watch", /^ids/, [{}, ...[[], ["1"], [0], ids(501)].map((some) => ({ ids: some }))]],
  ["POST /unwatched/watch", /^dryRun/, [{ ids: [1], dryRun: "yes" }]],
  ["GET /alert-configs/1/deliveries", /^status/, ["status=not_delivered", "status="]],
  ["GET /alert-configs/others/deliveries", /^id must be .* or owners/, none],
  ["GET /alert-configs/1/deliveries/x", /^deliveryId/, none],
];

const credential = { id: "A".repeat(22), rawId: "A".repeat(22), type: "public-key" };

/** What a device, a link or a provider holds: nobody can mend a field of it. */
const untyped: readonly [route: string, refusal: RefusalName, bodies: readonly object[]][] = [
  [
    "POST /passkeys",
    "passkeyRefused",
    [undefined, {}, { ...credential, id: "x" }, { ...credential, response: {} }].map((answer) => ({
      answer,
    })),
  ],
  [
    "POST /sign-in/passkeys/sessions",
    "passkeyRefused",
    [{}, { ...credential, rawId: "x" }, credential, { ...credential, response: { signature: "" } }].map(
      (answer) => ({ answer }),
    ),
  ],
  [
    "POST /sign-in/links/lookup",
    "invalidLink",
    [{}, { token: "" }, { token: 1 }, { token: "x".repeat(201) }],
  ],
  ["POST /sign-in/sessions", "invalidLink", [{}, { token: "" }, { token: 1 }, { token: "x".repeat(201) }]],
  [
    "POST /sign-in/provider/sessions",
    "providerMalformed",
    [{}, { answer: "" }, { answer: "x".repeat(8_001) }],
  ],
  ["GET /recipients/1.cut", "recipientLinkInvalid", [{}]],
  ["POST /recipients/1.cut/confirm", "recipientLinkInvalid", [{}]],
  ["POST /recipients/1.cut/unsubscribe", "recipientLinkInvalid", [{}]],
];

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

const routed = (all: readonly Route[], given: string): { endpoint: Endpoint; path: object } => {
  const [method, path = ""] = given.split(" ");
  const route = all.find((each) => each.method === method && patternOf(each.path).test(path));
  if (route === undefined) throw new Error(`No route ${given}`);
  return { endpoint: route.endpoint, path: { ...patternOf(route.path).exec(path)?.groups } };
};

const expectRefused = async (
  all: readonly Route[],
  given: string,
  error: RegExp,
  input: { query: string } | { body: unknown },
): Promise<void> => {
  const { endpoint, path } = routed(all, given);
  await expectInvalid(endpoint, { path, ...input }, error);
};

const fields = bodies.flatMap(([route, body, refused]) =>
  Object.entries(refused).map(([error, values]) => [route, error, values, body] as const),
);
test.each(fields)("%s refuses %s", async (route, error, values, body) => {
  const [field = ""] = error.split(":");
  for (const value of values) {
    const changed = structuredClone(body) as Record<string, unknown>;
    const names = field.split(".");
    const last = names.pop() ?? "";
    let parent = changed;
    for (const name of names) {
      parent[name] ??= {};
      parent = parent[name] as typeof parent;
    }
    parent[last] = value;
    await expectRefused(routes, route, RegExp(`^${error.replaceAll(".", "\\.")}`), { body: changed });
  }
});

test.each(queries)("%s refuses %s", async (route, error, refused) => {
  for (const query of refused) await expectRefused(routes, route, RegExp(`^${error}`), { query });
});

test.each(["acknowledgements", "reopenings"])(
  "POST /breaches/%s with ids and filter, or neither",
  async (name) => {
    for (const body of [{}, { ids: [1], filter: {} }])
      await expectRefused(routes, `POST /breaches/${name}`, /^Exactly one of ids and filter/, { body });
  },
);

test.each(dashboard)("%s of the dashboard, in words like %s", async (route, error, inputs) => {
  for (const input of inputs) {
    const sent = route.startsWith("GET") ? { query: String(input ?? "") } : { body: input ?? {} };
    await expectRefused(dashboardRoutes, route, error, sent);
  }
});

test.each(untyped)("%s refuses what no person has typed as a whole: %s", async (given, refusal, bodies) => {
  const { endpoint, path } = routed(dashboardRoutes, given);
  for (const body of bodies) await expectMalformed(endpoint, { path, body }, refusal);
});
