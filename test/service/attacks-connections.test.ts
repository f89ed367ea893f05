/** Attacks by the form of a request: its framing, target, method and headers. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { linkIn, mailsTo } from "../dashboard/outbox.ts";
import { signedIn, visitor } from "../dashboard/signed-in.ts";
import { origin } from "../endpoints/credentials.ts";
import { admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";
import { exchange, requestText, statusesIn } from "./raw-request.ts";
import { receivedAt } from "./receiver.ts";

let organization: Organization;
beforeAll(async () => {
  organization = await createOrganization();
});
// Each test has a key of its own, since requests are limited by key.
beforeEach(async () => {
  organization.api = await createKeyClient(organization.id);
});

const emailTotal = async (): Promise<unknown> => (await organization.api.get("/emails")).body.total;

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
    const { api, domainId } = organization;
    const { id } = (await api.post("/emails", { email: "stays@demo.example", domainId })).body;
    for (const Connection of ["close, Origin", "close, Origin, Cookie, Sec-Fetch-Site", "Origin, close"]) {
      const headers = { Cookie: cookie, Origin: "https://evil.example", Connection };
      const text = await exchange(requestText("DELETE", `/api/v1/emails?id=${id}`, headers));
      expect([Connection, statusesIn(text)]).toEqual([Connection, [403]]);
    }
    expect((await api.get("/emails")).body.emails).toMatchObject([{ id }]);
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
