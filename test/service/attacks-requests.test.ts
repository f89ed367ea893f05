/** Hostile requests of somebody who has a key, or none. Each is refused or does only what its words say. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { linkIn, mailsTo } from "../dashboard/outbox.ts";
import { signedIn, visitor } from "../dashboard/signed-in.ts";
import { origin } from "../endpoints/credentials.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { boundary, multipart, postForm, preview } from "../endpoints/upload.ts";
import { admin } from "./admin.ts";
import { createChannel, listDeliveries } from "./alert-channels.ts";
import { createClient, type Reply } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";
import { exchange, requestText, statusesIn } from "./raw-request.ts";
import { receivedAt, waitForRequests } from "./receiver.ts";

let organization: Organization;
beforeAll(async () => {
  organization = await createOrganization();
});
// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  organization.api = await createKeyClient(organization.id);
});

const emailTotal = async (): Promise<unknown> => (await organization.api.get("/emails")).body.total;

/** Asserts that a reply is 400 and that no e-mail was added. */
const expectRefusedWithoutEffect = async (send: () => Promise<Reply>, name: string): Promise<void> => {
  const before = await emailTotal();
  expect([name, (await send()).status]).toEqual([name, 400]);
  expect(await emailTotal()).toBe(before);
};

describe("input in the form of a query language", () => {
  test("does not change what a list shows", async () => {
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const ignored = [
      "limit[]=1",
      "isActive[$ne]=true",
      "isActive[]=false",
      "$where=1",
      "domainId.gt=0",
      "filter=%7B%7D",
    ];
    const whole = (await api.get("/emails")).body;
    for (const query of ignored) {
      expect([query, (await api.get(`/emails?${query}`)).body]).toEqual([query, whole]);
    }
    for (const query of [
      "domainId=1%20OR%201=1",
      "domainId=%7B%22$gt%22:0%7D",
      "domainId=1;--",
      "isActive=true%00",
      "isActive=TRUE",
      "isActive=1",
      "teamId=*",
      "teamId=null",
    ]) {
      expectRefusal(await api.get(`/emails?${query}`), 400, /^(domainId|isActive|teamId)/);
    }
  });

  test("and names that every object has are no values of fields", async () => {
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
});

describe("bodies", () => {
  test("in another encoding than UTF-8, or not in the form that it has, add nothing", async () => {
    const { api, domainId } = organization;
    const json = (email: string) => `{"email":"${email}","domainId":${domainId}}`;
    const overlong = Buffer.from(json("a?demo.example"), "latin1");
    // C1 80 is what an @ would be in two bytes, which UTF-8 forbids.
    const at = overlong.indexOf("?");
    const bodies: [name: string, raw: Buffer][] = [
      ["UTF-16", Buffer.from(`\ufeff${json("utf16@demo.example")}`, "utf16le")],
      ["UTF-7", Buffer.from(json("utf7+AEA-demo.example"))],
      [
        "overlong",
        Buffer.concat([overlong.subarray(0, at), Buffer.from([0xc1, 0x80]), overlong.subarray(at + 1)]),
      ],
      ["Latin-1", Buffer.from(json("ol\u00e9@demo.example"), "latin1")],
      ["half a character", Buffer.concat([Buffer.from(json("x@demo.example")), Buffer.from([0xe2, 0x82])])],
    ];
    for (const [name, raw] of bodies) {
      for (const type of [
        "application/json",
        "application/json; charset=utf-7",
        "application/json; charset=utf-16",
      ]) {
        const send = () => api.request("POST", "/emails", { raw, headers: { "content-type": type } });
        await expectRefusedWithoutEffect(send, `${name} as ${type}`);
      }
    }
  });

  test("with texts and lists of half a megabyte in every field are refused", async () => {
    const { api, domainId, id } = organization;
    const { dashboard } = await signedIn(id);
    const long = "a".repeat(500_000);
    const dotted = `${"a.".repeat(250_000)}example`;
    const many = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const replies = await Promise.all([
      api.post("/emails", { email: `${long}@demo.example`, domainId }),
      api.post("/emails", { email: `a@${dotted}`, domainId }),
      api.post("/emails", { email: "@".repeat(500_000), domainId }),
      api.post("/emails", { email: "ada@demo.example", domainId, ownerName: " ".repeat(500_000) }),
      api.post("/breaches/acknowledge", { id: 1, reason: long }),
      api.post("/breaches/acknowledgements", { ids: many }),
      api.post("/alert-configs", { channel: "webhook", config: { url: `https://${dotted}` } }),
      api.post("/alert-configs", {
        channel: "webhook",
        config: { url: "https://192.0.32.8/", secret: long },
      }),
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

describe("files", () => {
  const content = "email\nada@demo.example\n";

  test("named after a path of the server are read like any other", async () => {
    const plan = (await preview(organization.api, content)).body;
    for (const name of [
      "../../../etc/passwd.csv",
      "/dev/stdin.txt",
      "..\\\\..\\\\win.ini.csv",
      "$(reboot).csv",
      "%2e%2e%2fx.csv",
    ]) {
      expect([name, await preview(organization.api, content, name)]).toMatchObject([
        name,
        { status: 200, body: plan },
      ]);
    }
  });

  test("with two names, or one that ends before its end, count as the type they have", async () => {
    const refused = [
      "people.exe\0.csv.exe",
      "people.csv/",
      "people.csv;.exe",
      "people.csv%00",
      "people.csv\u202e",
    ];
    for (const name of refused) {
      expectRefusal(await preview(organization.api, content, name), 400, /^file: /);
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

  test("that hold another form are text, and add no field or file to the one they are in", async () => {
    const inner = `--inner\r\nContent-Disposition: form-data; name="file"; filename="b.csv"\r\n\r\neve@demo.example\r\n--inner--`;
    const form = multipart([
      { name: "file", filename: "a.csv", type: "multipart/mixed; boundary=inner", content: inner },
    ]);
    const nested = await postForm(organization.api, form);
    const twice = await postForm(
      organization.api,
      form,
      `multipart/form-data; boundary=${boundary}; boundary=inner`,
    );
    for (const { status, body } of [nested, twice]) {
      expect([200, 400]).toContain(status);
      if (status === 200) expect((body.emails as unknown[]).length).toBe(1);
    }
    const encoded = Buffer.from("email\nada@demo.example\n").toString("base64");
    const transfer = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}\r\n--${boundary}--\r\n`;
    expectRefusal(await postForm(organization.api, transfer), 400, /no e-mail addresses/);
  });
});

describe("requests on the wire", () => {
  const key = () => ({ Authorization: `Bearer ${organization.key}` });

  test("whose end is unclear are refused as a whole, however the doubt is made", async () => {
    const before = await emailTotal();
    const body = JSON.stringify({ email: "hidden@demo.example", domainId: organization.domainId });
    const hidden = `POST /api/v1/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${organization.key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (const lines of [
      "Transfer-Encoding: xchunked",
      "Transfer-Encoding: identity, chunked, identity",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
      "Transfer-Encoding : chunked",
      "Content-Length: +0",
      "Content-Length: 0x0",
      "Content-Length: 0, 0, 5",
      "Content-Length: -1",
      "Content-Length: 0\r\n Transfer-Encoding: chunked\r\nX",
    ]) {
      const head = `POST /api/v1/scans HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${organization.key}\r\n${lines}\r\n\r\n`;
      expect([lines, statusesIn(await exchange(`${head}0\r\n\r\n${hidden}`))]).toEqual([lines, [400]]);
    }
    expect(await emailTotal()).toBe(before);
  });

  test("to another host are not passed on: the service is no proxy", async () => {
    const receiver = new URL(inject("receiverUrl"));
    const path = `/proxied-${organization.id}`;
    const absolute = requestText("POST", `${receiver.origin}${path}`, key());
    const named = requestText("POST", path, { ...key(), Host: receiver.host });
    const tunnel = requestText("CONNECT", receiver.host, key());
    for (const text of [absolute, named, tunnel]) {
      expect(statusesIn(await exchange(text)).filter((status) => status < 400)).toEqual([]);
    }
    expect(await receivedAt(`${receiver.origin}${path}`)).toEqual([]);
  });

  test("with TRACE or OPTIONS repeat no credential and allow no other origin", async () => {
    for (const method of ["TRACE", "OPTIONS", "GET"]) {
      const headers = {
        ...key(),
        Origin: "https://evil.example",
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization",
      };
      const text = await exchange(requestText(method, "/api/v1/emails", headers));
      expect([method, statusesIn(text)]).toEqual([method, [method === "GET" ? 200 : 405]]);
      expect(text).not.toContain(organization.key);
      expect(text).not.toMatch(/access-control-|evil\.example/i);
    }
  });

  test("that declare Origin or Cookie as headers of the connection do not lose them", async () => {
    const { cookie } = await signedIn(organization.id);
    const before = await emailTotal();
    for (const Connection of ["close, Origin", "close, Origin, Cookie, Sec-Fetch-Site", "Origin, close"]) {
      const headers = { Cookie: cookie, Origin: "https://evil.example", Connection };
      const { id } =
        ((await organization.api.get("/emails?limit=1")).body.emails as { id: number }[])[0] ?? {};
      const [status] = statusesIn(await exchange(requestText("DELETE", `/api/v1/emails?id=${id}`, headers)));
      expect([Connection, status]).toEqual([Connection, 403]);
    }
    expect(await emailTotal()).toBe(before);
  });

  test("that never end do not keep others from being answered", async () => {
    const { hostname, port } = new URL(inject("apiUrl"));
    const sockets: Socket[] = [];
    try {
      for (let count = 0; count < 100; count++) {
        const socket = connect(Number(port), hostname).on("error", () => undefined);
        sockets.push(socket);
        const start = "POST /api/v1/emails HTTP/1.1\r\nHost: x\r\n";
        socket.write(count % 2 === 0 ? start : `${start}Content-Length: 1000\r\n\r\n{`);
      }
      const replies = await Promise.all(Array.from({ length: 10 }, () => organization.api.get("/emails")));
      expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200));
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
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
  const client = createClient({
    authorization: `Bearer ${organization.key}`,
    "user-agent": forged,
    "x-request-id": marker,
    "x-amzn-trace-id": `Root=${marker}`,
    "x-amzn-requestid": marker,
    referer: `https://evil.example/${encodeURIComponent(`\n${forged}`)}`,
  });
  const replies = [
    await client.get(`/emails?x=${encodeURIComponent(`\r\n${forged}`)}`),
    await client.get(`/nothing${encodeURIComponent(`\n${forged}\n`)}`),
    await client.post("/emails", {
      email: `a\n${forged}`,
      domainId: organization.domainId,
      ownerName: `\n${forged}`,
    }),
    await createClient({ authorization: `Bearer ${marker}`, "user-agent": forged }).get("/emails"),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 404, 400, 401]);
  for (const { headers } of replies) expect(headers["x-request-id"]).not.toContain("forged");
  const { dataDirectory } = await readLocalStack(inject("apiUrl"));
  const directory = join(dataDirectory, "logs");
  const readLogs = async (): Promise<string[]> => {
    const texts = await Promise.all(
      (await readdir(directory)).map((file) => readFile(join(directory, file), "utf8")),
    );
    return texts.flatMap((text) => text.split("\n"));
  };
  const ids = replies.map(({ headers }) => String(headers["x-request-id"]));
  const lines = await eventually(readLogs, (all) => ids.every((id) => all.some((line) => line.includes(id))));
  for (const id of ids) {
    for (const line of lines.filter((each) => each.includes(id))) {
      expect(JSON.parse(line.slice(line.indexOf("{")))).toMatchObject({ message: expect.any(String) });
    }
  }
  const withMarker = lines.filter((line) => line.includes(marker));
  expect(withMarker.filter((line) => JSON.parse(line.slice(line.indexOf("{"))).message === marker)).toEqual(
    [],
  );
});

test("a webhook's url and secret with line breaks add no header or request", async () => {
  const { id: org, api } = organization;
  const { dashboard } = await signedIn(org);
  const inbox = `${inject("receiverUrl")}/lines-${org}`;
  const urls = [
    `${inbox}%0d%0aX-Evil:%201`,
    `${inbox}?a=%0d%0a%0d%0aGET%20/evil%20HTTP/1.1`,
    `${inbox}\r\nX-Evil: 1`,
    `${inbox}\t#\r\n\r\nGET /evil HTTP/1.1`,
  ];
  for (const url of urls) {
    const created = await api.post("/alert-configs", { channel: "webhook", config: { url } });
    expect([201, 400]).toContain(created.status);
    if (created.status === 400) continue;
    const channel = created.body.id as number;
    expect((await dashboard.post(`/alert-configs/${channel}/test`)).status).toBe(202);
    await eventually(
      () => listDeliveries(organization, channel),
      ([delivery]) => delivery?.status === "delivered",
    );
    expect((await api.delete(`/alert-configs/${channel}`)).status).toBe(200);
    const path = new URL(url).pathname;
    const received = await receivedAt(new URL(path, inbox).href);
    expect(received.length).toBeGreaterThan(0);
    for (const { headers } of received) expect(headers).not.toHaveProperty("x-evil");
  }
  expect(await receivedAt(new URL("/evil", inbox).href)).toEqual([]);
  for (const secret of ["a secret\r\nX-Evil: 1", "a secret\u0000", "a secret\u0085of more"]) {
    const config = { url: `${inbox}-secret`, secret };
    expectRefusal(await api.post("/alert-configs", { channel: "webhook", config }), 400, /^config\.secret/);
  }
  const config = { url: `${inbox}-secret`, secret: "a secret that stays" };
  const channel = await createChannel(api, { channel: "webhook", config });
  expect((await api.patch(`/alert-configs/${channel}`, { config: { secret: "x\n" } })).status).toBe(400);
  await dashboard.post(`/alert-configs/${channel}/test`);
  const [received] = await waitForRequests(`${inbox}-secret`, 1);
  expect(received?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);
});
