/** Requests whose form or content is meant to deceive the service. */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { linkIn, untilMailed } from "../dashboard/outbox.ts";
import { signedIn, visitor } from "../dashboard/signed-in.ts";
import { origin } from "../endpoints/credentials.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { boundary, postForm, preview } from "../endpoints/upload.ts";
import { admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLogs } from "./local-stack.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";

let organization: Organization;
beforeAll(async () => {
  organization = await createOrganization();
});
// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  organization.api = await createKeyClient(organization.id);
});

test("names that every object has are no values of fields", async () => {
  const { api } = organization;
  const { dashboard } = await signedIn(organization.id);
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]) {
    const replies = await Promise.all([
      api.get(`/activity?category=${name}`),
      api.get(`/scans?type=${name}`),
      api.get(`/scans?status=${name}`),
      api.post("/alert-configs", { channel: name, config: {} }),
      api.post("/breaches/acknowledge", { id: 1, resolution: name }),
      dashboard.patch("/organization", { scanEvery: name }),
      dashboard.post("/members", { email: "new@other.example", role: name }),
    ]);
    expect([name, replies.map(({ status }) => status)]).toEqual([name, Array(7).fill(400)]);
  }
});

test("no page of another origin may read what the service answers", async () => {
  const headers = { origin: "https://evil.example", "access-control-request-method": "DELETE" };
  for (const method of ["OPTIONS", "GET"]) {
    const reply = await organization.api.request(method, "/emails", { headers });
    expect([method, reply.status]).toEqual([method, method === "GET" ? 200 : 405]);
    expect(JSON.stringify(reply.headers)).not.toMatch(/access-control-|evil\.example/i);
  }
});

test("bodies with texts and lists of half a megabyte in every field are refused", async () => {
  const { api, domainId, id } = organization;
  const { dashboard } = await signedIn(id);
  const long = "a".repeat(500_000);
  const dotted = `${"a.".repeat(250_000)}example`;
  const many = Array.from({ length: 50_000 }, (_, index) => index + 1);
  const webhook = (config: object) => api.post("/alert-configs", { channel: "webhook", config });
  const replies = await Promise.all([
    api.post("/emails", { email: `${long}@demo.example`, domainId }),
    api.post("/emails", { email: `a@${dotted}`, domainId }),
    api.post("/emails", { email: "@".repeat(500_000), domainId }),
    api.post("/emails", { email: "ada@demo.example", domainId, ownerName: " ".repeat(500_000) }),
    api.post("/breaches/acknowledge", { id: 1, reason: long }),
    api.post("/breaches/acknowledgements", { ids: many }),
    webhook({ url: `https://${dotted}` }),
    webhook({ url: "https://192.0.32.8/", secret: long }),
    api.post("/alert-configs", { channel: "email", config: { recipients: many.map(() => "a@b.example") } }),
    api.post("/emails/import/commit", { emails: many.map(() => ({})), quote: {} }),
    dashboard.post("/domains", { name: dotted }),
    dashboard.post("/domains", { name: "-".repeat(500_000) }),
    dashboard.post("/teams", { name: long }),
    dashboard.post("/members", { email: `${long}@x.example`, role: "member" }),
    visitor().post("/sign-in/sessions", { token: long }),
    visitor().post("/sign-in/links", { email: `${long}@x.example` }),
  ]);
  // A token is refused as a whole, as any other that signs nobody in.
  const expected = replies.map((_, index) => (index === replies.length - 2 ? 401 : 400));
  expect(replies.map(({ status }) => status)).toEqual(expected);
});

test("a file with two names counts as the type that it has", async () => {
  const content = "email\nada@demo.example\n";
  for (const name of ["people.exe\0.csv.exe", "people.csv/", "people.csv;.exe", "people.csv\u202e"]) {
    expectRefusal(await preview(organization.api, content, name), 400, /^file: |well-formed/);
  }
  const part = (disposition: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\n` +
    `${content}\r\n--${boundary}--\r\n`;
  for (const disposition of [
    "filename=people.exe; x=.csv",
    "filename*=utf-8''people%2Eexe",
    'filename="a.exe"; size=".csv"',
  ]) {
    expectRefusal(await postForm(organization.api, part(disposition)), 400, /^file: /);
  }
});

test("a sign-in link names the service's own host, whatever host the request names", async () => {
  const email = `host-${organization.id}@demo.example`;
  await admin("user create", { org: organization.id, email, role: "admin" });
  const forged: Record<string, string>[] = [
    { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "x-forwarded-port": "444" },
    {
      forwarded: "host=evil.example;proto=https",
      "x-original-host": "evil.example",
      "x-host": "evil.example",
    },
    { host: "evil.example", origin: "http://evil.example" },
  ];
  const replies = [];
  for (const headers of forged) {
    replies.push(await visitor({ origin: origin(), ...headers }).post("/sign-in/links", { email }));
  }
  const accepted = replies.filter(({ status }) => status === 202).length;
  expect(accepted).toBeGreaterThanOrEqual(2);
  for (const mail of await untilMailed(email, accepted)) {
    expect(linkIn(mail).origin).toBe(origin());
    expect(mail).not.toContain("evil.example");
  }
});

test("a log line stays one line of JSON, whatever a request's headers and names hold", async () => {
  const marker = `forged-${randomUUID()}`;
  const forged = `{"level":"ERROR","message":"${marker}"}`;
  const { key, domainId } = organization;
  const client = createClient({
    authorization: `Bearer ${key}`,
    "user-agent": forged,
    "x-request-id": marker,
    "x-amzn-trace-id": `Root=${marker}`,
    "x-amzn-requestid": marker,
    referer: `https://evil.example/${encodeURIComponent(`\n${forged}`)}`,
  });
  const replies = [
    await client.get(`/emails?x=${encodeURIComponent(`\r\n${forged}`)}`),
    await client.get(`/nothing${encodeURIComponent(`\n${forged}\n`)}`),
    await client.post("/emails", { email: `a\n${forged}`, domainId, ownerName: `\n${forged}` }),
    await createClient({ authorization: `Bearer ${marker}`, "user-agent": forged }).get("/emails"),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 404, 400, 401]);
  const ids = replies.map(({ headers }) => String(headers["x-request-id"]));
  expect(ids.join()).not.toContain("forged");
  const logs = await eventually(readLogs, (text) => ids.every((id) => text.includes(id)));
  for (const line of logs
    .split("\n")
    .filter((each) => [marker, ...ids].some((text) => each.includes(text)))) {
    const { message } = JSON.parse(line.slice(line.indexOf("{")));
    expect([message, typeof message]).not.toEqual([marker, "string"]);
    expect(message).toEqual(expect.any(String));
  }
});
