/** Requests whose form or content is meant to deceive the service. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { linkIn, mailsTo } from "../dashboard/outbox.ts";
import { signedIn, visitor } from "../dashboard/signed-in.ts";
import { origin } from "../endpoints/credentials.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { boundary, postForm, preview } from "../endpoints/upload.ts";
import { admin } from "./admin.ts";
import { createChannel } from "./alert-channels.ts";
import { createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";
import { receivedAt, waitForRequests } from "./receiver.ts";

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

test("parameters in the form of a query language, and a method in a header, do nothing", async () => {
  const { domainId, key } = organization;
  const headers = { "x-http-method-override": "DELETE", "x-method-override": "DELETE" };
  const api = createClient({ authorization: `Bearer ${key}`, ...headers });
  await api.post("/emails", { email: "ada@demo.example", domainId });
  const whole = (await api.get("/emails")).body;
  for (const query of ["limit[]=1", "isActive[$ne]=true", "$where=1", "domainId.gt=0", "_method=DELETE"]) {
    expect([query, (await api.get(`/emails?${query}`)).body]).toEqual([query, whole]);
  }
  for (const query of [
    "domainId=1%20OR%201=1",
    "domainId=%7B%22$gt%22:0%7D",
    "isActive=true%00",
    "teamId=*",
  ]) {
    expectRefusal(await api.get(`/emails?${query}`), 400, /^(domainId|isActive|teamId)/);
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

describe("bodies", () => {
  test("in another encoding than UTF-8, or not in the form that it has, add nothing", async () => {
    const { api, domainId } = organization;
    const { total } = (await api.get("/emails")).body;
    const json = (email: string) => `{"email":"${email}","domainId":${domainId}}`;
    const overlong = Buffer.from(json("a?demo.example"), "latin1");
    // C1 80 is what an @ would be in two bytes, which UTF-8 forbids.
    const at = overlong.indexOf("?");
    for (const [name, raw] of [
      ["utf-16", Buffer.from(`\ufeff${json("utf16@demo.example")}`, "utf16le")],
      ["utf-7", Buffer.from(json("utf7+AEA-demo.example"))],
      [
        "overlong",
        Buffer.concat([overlong.subarray(0, at), Buffer.from([0xc1, 0x80]), overlong.subarray(at + 1)]),
      ],
      ["latin1", Buffer.from(json("ol\u00e9@demo.example"), "latin1")],
      ["half a character", Buffer.concat([Buffer.from(json("x@demo.example")), Buffer.from([0xe2, 0x82])])],
    ] as const) {
      const headers = { "content-type": `application/json; charset=${name}` };
      expect([name, (await api.request("POST", "/emails", { raw, headers })).status]).toEqual([name, 400]);
    }
    expect((await api.get("/emails")).body.total).toBe(total);
  });

  test("with texts and lists of half a megabyte in every field are refused", async () => {
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
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 400));
  });
});

test("a file with two names counts as the type that it has", async () => {
  const content = "email\nada@demo.example\n";
  for (const name of ["people.exe\0.csv.exe", "people.csv/", "people.csv;.exe", "people.csv\u202e"]) {
    expectRefusal(await preview(organization.api, content, name), 400, /^file: |well-formed/);
  }
  const part = (disposition: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
  for (const disposition of [
    "filename=people.exe; x=.csv",
    "filename*=utf-8''people%2Eexe",
    'filename="a.exe"; size=".csv"',
  ]) {
    expectRefusal(await postForm(organization.api, part(disposition)), 400, /^file: /);
  }
});

test("a webhook's url and secret with line breaks add no header or request", async () => {
  const { id: org, api } = organization;
  const { dashboard } = await signedIn(org);
  const inbox = `${inject("receiverUrl")}/lines-${org}`;
  const create = (config: object) => api.post("/alert-configs", { channel: "webhook", config });
  for (const end of ["\r\nX-Evil: 1", "\t#\r\n\r\nPOST /evil HTTP/1.1", "\n"]) {
    expectRefusal(await create({ url: `${inbox}${end}` }), 400, /^config\.url/);
  }
  for (const secret of ["a secret\r\nX-Evil: 1", "a secret\u0000", "a secret\u0085of more"]) {
    expectRefusal(await create({ url: inbox, secret }), 400, /^config\.secret/);
  }
  for (const end of ["%0d%0aX-Evil:%201", "?a=%0d%0a%0d%0aPOST%20/evil%20HTTP/1.1"]) {
    const url = `${inbox}${end}`;
    const channel = await createChannel(api, { channel: "webhook", config: { url } });
    expect((await dashboard.post(`/alert-configs/${channel}/test`)).status).toBe(202);
    const [received] = await waitForRequests(new URL(new URL(url).pathname, inbox).href, 1);
    expect(received?.headers).not.toHaveProperty("x-evil");
  }
  expect(await receivedAt(new URL("/evil", inbox).href)).toEqual([]);
});

test("a sign-in link names the service's own host, whatever host the request names", async () => {
  const email = `host-${organization.id}@demo.example`;
  await admin("user create", { org: organization.id, email });
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
  const mails = await eventually(
    () => mailsTo(email),
    (all) => all.length >= accepted,
  );
  for (const mail of mails) {
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
  const directory = join((await readLocalStack(inject("apiUrl"))).dataDirectory, "logs");
  const readLogs = async (): Promise<string[]> => {
    const files = await readdir(directory);
    const texts = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")));
    return texts.flatMap((text) => text.split("\n"));
  };
  const lines = await eventually(readLogs, (all) => ids.every((id) => all.some((line) => line.includes(id))));
  for (const line of lines.filter((each) => [marker, ...ids].some((text) => each.includes(text)))) {
    const { message } = JSON.parse(line.slice(line.indexOf("{")));
    expect([message, typeof message]).not.toEqual([marker, "string"]);
    expect(message).toEqual(expect.any(String));
  }
});
