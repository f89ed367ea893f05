/** What endpoints of the dashboard refuse as input, in words that name the field. */
import { test } from "vitest";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { expectInvalid } from "../endpoints/invalid.ts";

const none = [undefined];
const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const named = (...names: unknown[]) => names.map((name) => ({ name }));
const long = "a".repeat(10_000);

/** The route, what every refusal matches, and the inputs: bodies, or queries of GET. */
const cases: readonly [route: string, error: RegExp, inputs: readonly unknown[]][] = [
  ["POST /domains", /^name: must be a domain name/, named("ｇｍａｉｌ.com", "gmail.com\u200b", "example")],
  ["POST /domains", /^name: /, named("a b.example", "-a.example", `${"a".repeat(64)}.example`, "", 7)],
  ["POST /domains", /^name: is required/, [{}]],
  [
    "POST /teams",
    /^name: /,
    named(undefined, "", " ", 1, null, "x".repeat(101), "㌀".repeat(100), "a\u0007"),
  ],
  ["PATCH /teams/1", /^name: |at least one field/, [{}, ...named("", null)]],
  ["POST /api-keys", /^label: /, [{}, { label: "" }, { label: "  " }, { label: "x".repeat(101) }]],
  ["GET /api-keys", /^limit/, ["limit=0", "limit=101", "limit=x"]],
  ["GET /api-keys", /^offset/, ["offset=-1"]],
  ["DELETE /api-keys/01", /^id/, none],
  ["POST /members", /^email: /, [{}, { email: "nobody", role: "member" }]],
  ["POST /members", /^role: /, [{ email: "a@b.example" }, { email: "a@b.example", role: "owner" }]],
  ["POST /members", /^name: /, [{ email: "a@b.example", role: "member", name: "" }]],
  [
    "PATCH /members/1",
    /^role: |^name: |at least one/,
    [{}, { role: "owner" }, { role: null }, { name: " " }],
  ],
  ["PATCH /organization", /at least one field/, [{}, { other: 1 }]],
  ["PATCH /organization", /^name: /, named("", "x".repeat(101), "a\u0000", null)],
  ["PATCH /organization", /^scanEvery: must be day, week, or never/, [{ scanEvery: "hour" }]],
  ["GET /sessions", /^limit/, ["limit=101"]],
  ["PATCH /sessions", /^action: /, [{}, { action: "list" }]],
  ["PATCH /sessions", /^answer: /, [{ action: "add" }]],
  ["PATCH /sessions", /^answer.rawId: /, [{ action: "add", answer: { id: "A".repeat(22) } }]],
  ["PATCH /sessions", /^id: /, [{ action: "remove", id: "__proto__" }]],
  ["POST /sign-in", /^answer.id: /, [{ answer: { id: "x" } }]],
  ["POST /sign-in", /^answer.rawId: /, [{ answer: { id: "A".repeat(22) } }]],
  [
    "POST /sign-in/links",
    /^email: /,
    [undefined, null, 1, "", "nobody", "a@b@c", "ada@demo.example, alan@demo.example"].map((email) => ({
      email,
    })),
  ],
  ["POST /sign-in/sessions", /^token: /, [{}, { token: "" }, { token: 1 }, { token: "x".repeat(201) }]],
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
  ["GET /breaches", /^state/, ["state=all"]],
  ["GET /breaches", /^severity/, ["severity=worst", "severity=high&severity=low"]],
  ["GET /breaches", /^order/, ["order=best"]],
  ["GET /breaches", /^q/, ["q=", "q=%CC%81", "q=%C2%B4", "q=e%00", `q=${long}`]],
  ["GET /breaches/x", /^id/, none],
  ["GET /emails", /^q/, ["q=a", "q=", "q=%CC%81%CC%81", `q=${long}`, "q=ab%00", "q=ab%1B", "q=a%20"]],
  ["GET /emails", /^q/, ["q=ada&q=alan"]],
  ["GET /emails/x", /^id/, none],
  ["PATCH /emails/1", /at least one/, [{}]],
  ["PATCH /emails/1", /^teamId: /, [{ teamId: "1" }, { teamId: 0 }]],
  ["PATCH /emails/1", /^ownerName: /, [{ ownerName: 1 }, { ownerName: "x".repeat(201) }]],
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
    ].map((change) => ({ ids: [1], ...change })),
  ],
  ["GET /unwatched", /^severity/, ["severity=worst", "severity=", "severity=high&severity=low"]],
  ["GET /unwatched", /^ignored/, ["ignored=1"]],
  ["GET /unwatched", /^order/, ["order=open"]],
  ["POST /unwatched/ignore", /^ids/, [{}, { ids: [], ignored: true }, { ids: ids(501), ignored: true }]],
  ["POST /unwatched/ignore", /^ignored/, [{ ids: [1] }, { ids: [1], ignored: "true" }]],
  ["POST /unwatched/watch", /^ids/, [{}, ...[[], ["1"], [0], ids(501)].map((some) => ({ ids: some }))]],
  ["POST /unwatched/watch", /^dryRun/, [{ ids: [1], dryRun: "yes" }]],
  ["GET /alert-configs/1/deliveries", /^status/, ["status=not_delivered", "status="]],
  ["GET /alert-configs/others/deliveries", /^id must be .* or owners/, none],
  ["GET /alert-configs/1/deliveries/x", /^deliveryId/, none],
];

test.each(cases)("%s, in words like %s", async (given, error, inputs) => {
  const [method, path = ""] = given.split(" ");
  const patternOf = (route: string) => new RegExp(`^${route.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  const route = dashboardRoutes.find((each) => each.method === method && patternOf(each.path).test(path));
  if (route === undefined) throw new Error(`No route ${given}`);
  const parameters = { ...patternOf(route.path).exec(path)?.groups };
  for (const input of inputs) {
    const sent = method === "GET" ? { query: String(input ?? "") } : { body: input ?? {} };
    await expectInvalid(route.endpoint, { path: parameters, ...sent }, error);
  }
});
