/** Attacks that were tried on the running service. Each leaves another organization, or the service, as it was. */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { find, addresseesOf as recipientsOf } from "../../shared/alerting/recipients/recipient.ts";
import { signIn } from "../endpoints/sign-in.ts";
import { admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { exchange, statusesIn } from "./raw-request.ts";
import { scan } from "./scan.ts";

let attacker: Organization;
let victim: Organization;
let victimEmail: number;
let victimFinding: number;

/** Everything that the victim can see of itself. */
const stateOf = async ({ api }: Organization) => ({
  emails: (await api.get("/emails")).body,
  breaches: (await api.get("/breaches")).body,
  channels: (await api.get("/alert-configs")).body,
});

beforeAll(async () => {
  [attacker, victim] = [await createOrganization(), await createOrganization()];
  const { domainId } = victim;
  victimEmail = (await victim.api.post("/emails", { email: "ada@demo.example", domainId })).body.id as number;
  await scan(victim.api);
  const { breaches } = (await victim.api.get("/breaches")).body as { breaches: { id: number }[] };
  victimFinding = breaches[0]?.id ?? 0;
  expect(victimFinding).toBeGreaterThan(0);
});

/** Sends bytes as they are and gives the statuses of all answers on the connection. */
const raw = async (bytes: string): Promise<number[]> => statusesIn(await exchange(bytes));

const get = (path: string, ...headers: string[]): string =>
  `${[`GET ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;

describe("ids of another organization", () => {
  test("in a request for many findings, beside one's own, acknowledge nothing", async () => {
    const before = await stateOf(victim);
    const body = { ids: [victimFinding], resolution: "handled" };
    expect((await attacker.api.post("/breaches/acknowledgements", body)).status).toBe(404);
    expect(await stateOf(victim)).toEqual(before);
  });

  test("of a domain beside an address of the same name add nothing", async () => {
    const before = await stateOf(victim);
    const body = { email: "eve@demo.example", domainId: victim.domainId };
    expect((await attacker.api.post("/emails", body)).status).toBe(404);
    expect(await stateOf(victim)).toEqual(before);
  });

  test("in filters find nothing, not even a count", async () => {
    for (const path of [`/breaches?emailId=${victimEmail}`, `/emails?domainId=${victim.domainId}`]) {
      expect((await attacker.api.get(path)).body).toMatchObject({ total: 0 });
    }
  });

  test("in a body do not replace the organization of the key", async () => {
    const { api, domainId } = attacker;
    const body = { email: "own@demo.example", domainId, organizationId: victim.id, org: victim.id };
    const before = await stateOf(victim);
    expect((await api.post("/emails", body)).status).toBe(201);
    expect(await stateOf(victim)).toEqual(before);
  });
});

describe("credentials", () => {
  test("spliced from the keys of two organizations are of nobody", async () => {
    const length = Math.min(attacker.key.length, victim.key.length);
    for (let cut = 1; cut < length; cut += 3) {
      const key = victim.key.slice(0, cut) + attacker.key.slice(cut);
      if (key === victim.key || key === attacker.key) continue;
      const api = createClient({ authorization: `Bearer ${key}` });
      expect((await api.get("/emails")).status).toBe(401);
    }
  });

  test("followed by NUL, zero-width space or percent signs are of nobody", async () => {
    for (const [end, status] of [
      ["\0", 400],
      ["\u200b", 401],
      ["%00", 401],
      [",", 401],
    ] as const) {
      expect(await raw(get("/api/v1/emails", `Authorization: Bearer ${victim.key}${end}`))).toEqual([status]);
    }
  });

  test("in the query, a body or other headers do not count", async () => {
    const { key } = victim;
    const names = ["X-Api-Key", "Proxy-Authorization", "X-Authorization", "X-Amz-Security-Token"];
    const headers = Object.fromEntries(names.map((name) => [name, `Bearer ${key}`]));
    const api = createClient(headers);
    expect((await api.get(`/emails?api_key=${key}&access_token=${key}`)).status).toBe(401);
    expect((await api.post("/scans", { authorization: `Bearer ${key}` })).status).toBe(401);
  });

  test("of a session made by the attacker's page are not taken over by signing in", async () => {
    const planted = "session=planted-by-an-attacker";
    const visitor = createClient({ cookie: planted }, new URL("/api/dashboard", inject("apiUrl")).href);
    const { userId: user } = await signIn(attacker);
    const link = (await admin("user sign-in-link", { org: attacker.id, user })).url as string;
    const token = new URL(link).hash.slice(1);
    const { headers } = await visitor.post("/sign-in/sessions", { token });
    expect(String(headers["set-cookie"])).toMatch(/^(?:__Host-)?session=(?!planted)/);
    expect((await createClient({ cookie: planted }).get("/emails")).status).toBe(401);
  });

  test("of a session change nothing from another page, whatever its origin is called", async () => {
    const { cookie } = await signIn(victim);
    const before = await stateOf(victim);
    const own = new URL(inject("apiUrl"));
    const origins = [
      "null",
      `${own.origin}.evil.example`,
      `https://${own.host}`,
      `${own.origin}:81`,
      "",
      "*",
    ];
    for (const origin of origins) {
      const api = createClient({ cookie, origin });
      expect([origin, (await api.delete(`/emails?id=${victimEmail}`)).status]).toEqual([origin, 403]);
    }
    expect(await stateOf(victim)).toEqual(before);
  });
});

describe("requests", () => {
  test("with two lengths, and another request behind the body, are refused as a whole", async () => {
    const key = `Authorization: Bearer ${attacker.key}`;
    const hidden = get("/api/v1/emails", `Authorization: Bearer ${victim.key}`);
    const lengths = [
      "Content-Length: 4\r\nTransfer-Encoding: chunked",
      "Content-Length: 4\r\nContent-Length: 5",
    ];
    for (const length of lengths) {
      const head = `POST /api/v1/scans HTTP/1.1\r\nHost: x\r\n${key}\r\n${length}\r\n\r\n`;
      expect(await raw(`${head}0\r\n\r\n${hidden}`)).toEqual([400]);
    }
  });

  test("to paths that only resemble an endpoint's reach none", async () => {
    const paths = [
      "//emails",
      "/emails//",
      "/x/../emails",
      "/x/%2e%2e/emails",
      "/EMAILS",
      "/emails;a=b",
      "/emails%00",
    ];
    for (const path of paths) {
      const statuses = await raw(get(`/api/v1${path}`, `Authorization: Bearer ${attacker.key}`));
      expect([path, statuses]).not.toEqual([path, [200]]);
    }
  });

  test("that name another method in a header are what their line says", async () => {
    const before = await stateOf(attacker);
    const headers = { "x-http-method-override": "DELETE", "x-method-override": "DELETE", _method: "DELETE" };
    const { key } = attacker;
    const api = createClient({ authorization: `Bearer ${key}`, ...headers });
    expect((await api.get("/emails")).status).toBe(200);
    expect((await api.post("/emails?_method=DELETE", {})).status).toBe(400);
    expect(await stateOf(attacker)).toEqual(before);
  });

  test("with __proto__ and constructor in the body change no prototype", async () => {
    const { api, domainId } = attacker;
    const email = "proto@demo.example";
    const text = `{"__proto__":{"isActive":false,"admin":true},"constructor":{"prototype":{"polluted":1}},"email":"${email}","domainId":${domainId}}`;
    expect((await api.request("POST", "/emails", { raw: text })).status).toBe(201);
    const { emails } = (await api.get("/emails")).body as { emails: { email: string; isActive: boolean }[] };
    expect(emails.find((each) => each.email === email)).toMatchObject({ isActive: true });
    const empty = (await attacker.api.get("/alert-configs")).body;
    expect(JSON.stringify(empty)).not.toContain("polluted");
  });

  test("with one field twice are judged by the value that is used", async () => {
    const { api, domainId } = attacker;
    const text = `{"email":"fine@demo.example","email":"eve@evil.example","domainId":${domainId}}`;
    expect((await api.request("POST", "/emails", { raw: text })).status).toBe(400);
  });

  test("with numbers that are no ids are refused", async () => {
    for (const id of ["1e400", "-0", "1.5", "9007199254740993", '"7"', "[7]", "true", "1e3000"]) {
      const { status } = await attacker.api.request("POST", "/breaches/acknowledge", { raw: `{"id":${id}}` });
      expect([id, status]).toEqual([id, 400]);
    }
  });

  test("nested 100,000 deep or compressed a thousandfold end with an answer", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect((await attacker.api.request("POST", "/emails", { raw: deep })).status).toBe(400);
    const bomb = gzipSync(Buffer.alloc(9_000_000, "a"));
    const headers = { "content-encoding": "gzip" };
    const { status } = await attacker.api.request("POST", "/emails", { raw: bomb, headers });
    expect([400, 413]).toContain(status);
  });

  test("with lone surrogates or NUL in a name are refused", async () => {
    for (const owner of ["\\ud800", "a\\u0000b"]) {
      const text = `{"email":"s@demo.example","domainId":${attacker.domainId},"ownerName":"${owner}"}`;
      expect((await attacker.api.request("POST", "/emails", { raw: text })).status).toBe(400);
    }
  });

  test("with 64 KB of cookies, or 300 sessions, are refused", async () => {
    expect(await raw(get("/api/v1/emails", `Cookie: ${"a".repeat(65_536)}`))).toEqual([431]);
    const sessions = Array.from({ length: 300 }, (_, index) => `session=${index}`).join("; ");
    expect(await raw(get("/api/v1/emails", `Cookie: ${sessions}`))).toEqual([401]);
  });
});

describe("destinations and recipients", () => {
  test.each([
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://localhost./",
    "https://good.example@127.0.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00:ec2::254]/",
  ])("a webhook to %s is refused", async (url) => {
    const body = { channel: "webhook", config: { url } };
    expect((await attacker.api.post("/alert-configs", body)).status).toBe(400);
  });

  test.each([
    "https://hooks.slack.com.evil.example/services/T/B/x",
    "https://hooks.slack.com@127.0.0.1/services/T/B/x",
    "http://hooks.slack.com/services/T/B/x",
  ])("a Slack hook at %s is refused", async (webhookUrl) => {
    const body = { channel: "slack", config: { webhookUrl } };
    expect((await attacker.api.post("/alert-configs", body)).status).toBe(400);
  });

  test.each([
    "a@demo.example\r\nBcc: eve@evil.example",
    "a@demo.example, eve@evil.example",
    "<a@demo.example>",
    '"a b"@demo.example',
    "a@[127.0.0.1]",
  ])("the recipient %j is refused", async (recipient) => {
    const body = { channel: "email", config: { recipients: [recipient] } };
    expect((await attacker.api.post("/alert-configs", body)).status).toBe(400);
  });

  test("a recipient's link does not unsubscribe another recipient", async () => {
    const [own, other] = await recipientsOf(attacker.id, ["eve@other.example", "ada@other.example"]);
    const [org, name] = (other?.token ?? "").split(".");
    const [, , secret] = (own?.token ?? "").split(".");
    const visitor = createClient({}, new URL("/api/dashboard", inject("apiUrl")).href);
    expect((await visitor.post(`/recipients/${org}.${name}.${secret}/unsubscribe`)).status).toBe(404);
    expect((await find(other?.token ?? ""))?.recipient.consent).toBeUndefined();
  });
});

describe("races", () => {
  test("of 30 channels at once 20 are created", async () => {
    const { api } = await createOrganization();
    const create = (_: unknown, index: number) =>
      api.post("/alert-configs", { channel: "email", config: { recipients: [`a${index}@demo.example`] } });
    const replies = await Promise.all(Array.from({ length: 30 }, create));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect((await api.get("/alert-configs")).body.configs).toHaveLength(20);
  });

  test("of the last seat ten requests at once take one", async () => {
    const flags = { billing: "trialing", "seat-allowance": "1" };
    const { api, domainId } = await createOrganization(flags);
    const add = (_: unknown, index: number) =>
      api.post("/emails", { email: `seat${index}@demo.example`, domainId });
    const replies = await Promise.all(Array.from({ length: 10 }, add));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await api.get("/emails")).body).toMatchObject({ total: 1 });
  });

  test("of one sign-in link eight visitors at once get one session", async () => {
    const email = "raced@demo.example";
    const { id: user } = await admin("user create", { org: attacker.id, email });
    const link = (await admin("user sign-in-link", { org: attacker.id, user })).url as string;
    const token = new URL(link).hash.slice(1);
    const redeem = () =>
      createClient({}, new URL("/api/dashboard", inject("apiUrl")).href).post("/sign-in/sessions", { token });
    const replies = await Promise.all(Array.from({ length: 8 }, redeem));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
  });
});
