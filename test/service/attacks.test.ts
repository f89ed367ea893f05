/** Attacks that were tried on the running service. Each leaves another organization, or the service, as it was. */
import { beforeAll, describe, expect, inject, test } from "vitest";
import { find, addresseesOf as recipientsOf } from "../../shared/alerting/recipients/recipient.ts";
import { signIn } from "../endpoints/sign-in.ts";
import { admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { exchange, statusesIn } from "./raw-request.ts";

let attacker: Organization;
let victim: Organization;
let victimEmail: number;

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
});

/** Sends bytes as they are and gives the statuses of all answers on the connection. */
const raw = async (bytes: string): Promise<number[]> => statusesIn(await exchange(bytes));

const get = (path: string, ...headers: string[]): string =>
  `${[`GET ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;

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
  test("a recipient's link does not unsubscribe another recipient", async () => {
    const [own, other] = await recipientsOf(attacker.id, ["eve@other.example", "ada@other.example"]);
    const [org, name] = (other?.token ?? "").split(".");
    const [, , secret] = (own?.token ?? "").split(".");
    const visitor = createClient({}, new URL("/api/dashboard", inject("apiUrl")).href);
    expect((await visitor.post(`/recipients/${org}.${name}.${secret}/unsubscribe`)).status).toBe(404);
    expect((await find(other?.token ?? ""))?.recipient.consent).toBeUndefined();
  });
});
