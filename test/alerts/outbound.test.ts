import { execFile } from "node:child_process";
import dns, { getServers, setServers } from "node:dns";
import type { OutgoingHttpHeaders, RequestListener } from "node:http";
import net, { createServer, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from "node:tls";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parseDestination, resolveDestination } from "../../shared/alerts/destination.ts";
import { type Outcome, post } from "../../shared/alerts/outbound.ts";
import { sign, signatureHeader } from "../../shared/alerts/signature.ts";
import { type Answer, type RecordType, startNameServer } from "./name-server.ts";
import { listenOnLoopback, loopbackCertificate, otherHostCertificate, startReceiver } from "./receiver.ts";

const originalServers = getServers();
const originalEnvironment = { ...process.env };
const originalCertificates = getCACertificates("default");
const closing: (() => Promise<void>)[] = [];

/** For programs that run in a process of their own. */
const outboundModule = JSON.stringify(new URL("../../shared/alerts/outbound.ts", import.meta.url));

afterEach(async () => {
  process.env = { ...originalEnvironment };
  setServers(originalServers);
  setDefaultCACertificates(originalCertificates);
  await Promise.all(closing.splice(0).map((close) => close()));
});

const allow = (...origins: string[]) => {
  process.env.OUTBOUND_ALLOWED_ORIGINS = origins.join(",");
};

async function receive(settings: Parameters<typeof startReceiver>[0] = {}) {
  const receiver = await startReceiver(settings);
  closing.push(receiver.close);
  allow(receiver.origin);
  return receiver;
}

/** A server that says whatever it likes: `talk` gets the socket once the request's head has arrived. */
async function listen(talk: (socket: Socket) => void) {
  const server = await listenOnLoopback(createServer((socket) => socket.once("data", () => talk(socket))));
  closing.push(server.close);
  const origin = `http://127.0.0.1:${server.port}`;
  allow(origin);
  return { ...server, origin };
}

async function resolveNames(answer: (query: { name: string; type: RecordType }) => Answer) {
  const server = await startNameServer(answer);
  closing.push(server.close);
  setServers([server.address]);
  return server;
}

/** Sends, and tells how long it took. */
async function send(url: string, deadlineSeconds = 5): Promise<{ outcome: Outcome; seconds: number }> {
  const startedAt = performance.now();
  const outcome = await post({ url, headers: {}, body: "{}", deadlineSeconds });
  return { outcome, seconds: (performance.now() - startedAt) / 1000 };
}

const endWith =
  (status: number, headers: OutgoingHttpHeaders = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end();

describe("what is sent", () => {
  test("is the exact body, as JSON, and its signature verifies", async () => {
    const receiver = await receive();
    const body = Buffer.from('{"id":1,"ä":"\\u0000 "}');
    const url = `${receiver.origin}/hook/a%20b?x=1&y=%2F#part`;
    const outcome = await post({ url, headers: { [signatureHeader]: sign(body, "s3cret") }, body });
    expect(outcome).toEqual({ status: 204 });
    const [request] = receiver.requests;
    expect(request?.method).toBe("POST");
    expect(request?.path).toBe("/hook/a%20b?x=1&y=%2F");
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: "close",
      "user-agent": "breach-monitor/1",
      "content-type": "application/json",
      "content-length": String(body.length),
      "x-service-signature": sign(body, "s3cret"),
    });
  });

  test("goes out once, and each send on a connection of its own", async () => {
    const receiver = await receive();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(receiver.origin)));
    expect(outcomes.every(({ outcome }) => "status" in outcome)).toBe(true);
    expect(receiver.requests).toHaveLength(20);
    await expect.poll(() => receiver.connections.size).toBe(0);
  });

  test("goes to the destination itself, whatever proxy the environment names", async () => {
    const proxy = await startReceiver();
    closing.push(proxy.close);
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"]) {
      process.env[name] = proxy.origin;
    }
    process.env.NODE_USE_ENV_PROXY = "1";
    const receiver = await receive();
    expect((await send(receiver.origin)).outcome).toEqual({ status: 204 });
    expect(receiver.requests).toHaveLength(1);
    // Node reads these when it starts.
    const program = `
      import { post } from ${outboundModule};
      console.log(JSON.stringify(await post({ url: ${JSON.stringify(receiver.origin)}, headers: {}, body: "{}" })));`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toEqual({ status: 204 });
    expect(proxy.connections.size).toBe(0);
    expect(proxy.requests).toHaveLength(0);
    expect(receiver.requests).toHaveLength(2);
  });
});

describe("the status line decides", () => {
  test.each([200, 201, 202, 204, 299])("%d is delivered", async (status) => {
    const receiver = await receive({ respond: endWith(status) });
    expect((await send(receiver.origin)).outcome).toEqual({ status });
  });

  test.each([304, 400, 404, 410, 500, 503])("%d is a failure", async (status) => {
    const receiver = await receive({ respond: endWith(status) });
    expect((await send(receiver.origin)).outcome).toEqual({ failure: `HTTP ${status}` });
  });

  test.each([
    ["30", 30],
    ["999999999", 3_600],
    ["-1", 0],
    ["Wed, 21 Oct 2099 07:28:00 GMT", 0],
    [undefined, 0],
  ])(
    "429 with Retry-After %s is a failure that says when to come back",
    async (retryAfter, comeBackSeconds) => {
      const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
      const receiver = await receive({ respond: endWith(429, headers) });
      expect((await send(receiver.origin)).outcome).toEqual({ failure: "HTTP 429", comeBackSeconds });
    },
  );

  test.each([301, 302, 303, 307, 308])("a redirect (%d) is not followed", async (status) => {
    const target = await startReceiver();
    closing.push(target.close);
    const receiver = await receive({ respond: endWith(status, { location: `${target.origin}/secret` }) });
    allow(receiver.origin, target.origin);
    expect((await send(receiver.origin)).outcome).toEqual({ failure: `redirect (${status}) not followed` });
    expect(target.requests).toHaveLength(0);
    expect(receiver.requests).toHaveLength(1);
  });

  test("an informational answer before it changes nothing", async () => {
    const { origin } = await listen((socket) =>
      socket.end(
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
      ),
    );
    expect((await send(origin)).outcome).toEqual({ status: 200 });
  });

  test("a 2xx whose body drips is delivered, and its connection closed at the deadline", async () => {
    const receiver = await receive({
      respond: (_request, response) => {
        const drip = setInterval(() => response.write("."), 50);
        response.writeHead(200).on("close", () => clearInterval(drip));
      },
    });
    const { outcome, seconds } = await send(receiver.origin, 0.5);
    expect(outcome).toEqual({ status: 200 });
    expect(seconds).toBeGreaterThan(0.4);
    expect(seconds).toBeLessThan(2);
    await expect.poll(() => receiver.connections.size).toBe(0);
  });

  test.each([
    ["without a length", {}],
    ["with a great length", { "content-length": "1000000000" }],
    ["that says it is compressed", { "content-encoding": "gzip" }],
  ])("a 2xx with an endless body %s is delivered at once, and little of it read", async (_name, headers) => {
    let written = 0;
    const receiver = await receive({
      respond: (_request, response) => {
        const chunk = Buffer.alloc(4096, "a");
        const pour = () => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length;
        };
        response.writeHead(200, headers).on("drain", pour);
        pour();
      },
    });
    const { outcome, seconds } = await send(receiver.origin);
    expect(outcome).toEqual({ status: 200 });
    expect(seconds).toBeLessThan(2);
    await expect.poll(() => receiver.connections.size).toBe(0);
    // What the loopback's buffers take besides the 16 KiB.
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  test("a compressed body is not decompressed", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const receiver = await receive({
      respond: (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    });
    const before = process.memoryUsage().rss;
    expect((await send(receiver.origin)).outcome).toEqual({ status: 200 });
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
  });

  test("a reset after a 2xx's headers changes nothing", async () => {
    const { origin } = await listen((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc");
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    expect((await send(origin)).outcome).toEqual({ status: 200 });
  });

  test("a failure does not wait for its body", async () => {
    const receiver = await receive({ respond: (_request, response) => response.writeHead(500).write("...") });
    const { outcome, seconds } = await send(receiver.origin);
    expect(outcome).toEqual({ failure: "HTTP 500" });
    expect(seconds).toBeLessThan(2);
    await expect.poll(() => receiver.connections.size).toBe(0);
  });
});

describe("no answer", () => {
  test.each([
    ["nothing at all", () => undefined],
    ["dripping headers", (socket: Socket) => void drip(socket, "HTTP/1.1 200 OK\r\nx: ", "a")],
    [
      "informational answers without end",
      (socket: Socket) => void drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
  ])("within the deadline: %s", async (_name, talk) => {
    const { origin, connections } = await listen(talk);
    const { outcome, seconds } = await send(origin, 0.4);
    expect(outcome).toEqual({ failure: "timeout" });
    expect(seconds).toBeLessThan(2);
    await expect.poll(() => connections.size).toBe(0);
  });

  function drip(socket: Socket, first: string, next: string) {
    socket.write(first);
    const timer = setInterval(() => socket.write(next), 30);
    socket.on("close", () => clearInterval(timer));
  }

  test("within the deadline: a TLS handshake that never ends", async () => {
    const server = await listen(() => undefined);
    allow(`https://127.0.0.1:${server.port}`);
    const { outcome, seconds } = await send(`https://127.0.0.1:${server.port}/`, 0.4);
    expect(outcome).toEqual({ failure: "timeout" });
    expect(seconds).toBeLessThan(2);
    await expect.poll(() => server.connections.size).toBe(0);
  });

  test("within the deadline: a silent name server", async () => {
    await resolveNames(() => "silence");
    const { outcome, seconds } = await send("https://hooks.acme.io/", 0.4);
    expect(outcome).toEqual({ failure: "timeout" });
    expect(seconds).toBeLessThan(2);
  });

  test("because nobody listens", async () => {
    const { origin, close } = await startReceiver();
    await close();
    allow(origin);
    expect((await send(origin)).outcome).toEqual({ failure: "connection refused" });
  });

  test.each([
    ["reset", (socket: Socket) => socket.resetAndDestroy()],
    ["closed", (socket: Socket) => socket.end()],
    [
      "reset in the middle of the headers",
      (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nx:", () => socket.resetAndDestroy()),
    ],
  ])("because the connection is %s", async (_name, talk) => {
    const { origin } = await listen((socket) => void talk(socket));
    expect((await send(origin)).outcome).toEqual({ failure: "connection reset" });
  });

  test.each([
    "220 mail.acme.io ESMTP s3cret\r\n",
    "HTTP/1.1 2x0 s3cret\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
  ])("because it is not HTTP: %j", async (answer) => {
    const { origin, connections } = await listen((socket) => socket.write(answer));
    expect((await send(origin)).outcome).toEqual({ failure: "not a valid HTTP response" });
    await expect.poll(() => connections.size).toBe(0);
  });

  test.each(["", "connection: upgrade\r\n"])("because of a protocol switch (%j)", async (header) => {
    const { origin, connections } = await listen((socket) =>
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${header}upgrade: s3cret\r\n\r\n`),
    );
    expect((await send(origin)).outcome).toHaveProperty("failure");
    await expect.poll(() => connections.size).toBe(0);
  });

  test("because its headers are too large", async () => {
    const { origin } = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(1 << 20)}`));
    expect((await send(origin)).outcome).toEqual({ failure: "response headers too large" });
  });

  test("because the name does not resolve", async () => {
    await resolveNames(() => "no such name");
    expect((await send("https://hooks.acme.io/")).outcome).toEqual({ failure: "name does not resolve" });
  });
});

describe("TLS", () => {
  test("an unknown certificate is refused, even if the environment says otherwise", async () => {
    const receiver = await receive({ tls: loopbackCertificate });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    expect((await send(receiver.origin)).outcome).toEqual({ failure: "TLS certificate not valid" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("a trusted certificate proves an address and a name", async () => {
    const receiver = await receive({ tls: loopbackCertificate });
    setDefaultCACertificates([...originalCertificates, loopbackCertificate.cert]);
    allow(receiver.origin, `https://localhost:${receiver.port}`);
    expect((await send(receiver.origin)).outcome).toEqual({ status: 204 });
    expect((await send(`https://localhost:${receiver.port}/`)).outcome).toEqual({ status: 204 });
    expect(receiver.requests.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.1:${receiver.port}`,
      `localhost:${receiver.port}`,
    ]);
  });

  test("the receiver is told the name that it is to prove; for an address there is none", async () => {
    const names: (string | false | undefined)[] = [];
    const server = createTlsServer(loopbackCertificate, (socket) => {
      names.push((socket as TLSSocket & { servername?: string | false }).servername);
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    const { port, close } = await listenOnLoopback(server);
    closing.push(close);
    setDefaultCACertificates([...originalCertificates, loopbackCertificate.cert]);
    const urls = [`https://localhost:${port}/`, `https://127.0.0.1:${port}/`];
    allow(...urls);
    for (const url of urls) expect((await send(url)).outcome).toEqual({ status: 200 });
    expect(names).toEqual(["localhost", false]);
  });

  test("another host's certificate is refused, though its issuer is trusted", async () => {
    const receiver = await receive({ tls: otherHostCertificate });
    setDefaultCACertificates([...originalCertificates, otherHostCertificate.cert]);
    expect((await send(receiver.origin)).outcome).toEqual({ failure: "TLS certificate not valid" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("plain HTTP behind an https url fails", async () => {
    const receiver = await receive();
    const origin = receiver.origin.replace("http:", "https:");
    allow(origin);
    expect((await send(origin)).outcome).toEqual({ failure: "TLS handshake failed" });
  });
});

describe("the guard", () => {
  test.each([
    ["https://127.0.0.1:PORT/", "destination is not public"],
    ["https://[::ffff:127.0.0.1]:PORT/", "address is not in its canonical form"],
    ["https://localhost:PORT/", "host is not a valid public name"],
    ["http://example.com:PORT/", "url must start with https://"],
    ["https://user:s3cret@example.com/", "url contains credentials"],
    ["not a url", "url contains a space, backslash or control character"],
  ])("refuses %s without connecting", async (url, failure) => {
    const receiver = await receive();
    expect((await send(url.replace("PORT", String(receiver.port)))).outcome).toEqual({ failure });
    expect(receiver.requests).toHaveLength(0);
  });

  test("holds again at each send: a name that was public when it was written is refused once it points inside", async () => {
    const receiver = await receive({ tls: loopbackCertificate });
    let addresses = ["1.1.1.1"];
    await resolveNames(({ type }) => (type === "A" ? addresses : []));
    const url = `https://hooks.acme.io:${receiver.port}/`;
    const parsed = parseDestination(url);
    const written = parsed.ok && (await resolveDestination(parsed, { signal: AbortSignal.timeout(1000) }));
    expect(written).toMatchObject({ ok: true });
    addresses = ["127.0.0.1"];
    expect((await send(url)).outcome).toEqual({ failure: "destination is not public" });
    expect(receiver.connections.size).toBe(0);
  });

  test("connects to what was checked, though the name means something else right after (rebinding)", async () => {
    let accepted = 0;
    const inside = await listenOnLoopback(createServer(() => accepted++));
    closing.push(inside.close);
    const asked: Record<RecordType, number> = { A: 0, AAAA: 0 };
    // First an address of public but unassigned space, so that nobody is called; afterwards the loopback.
    const server = await resolveNames(({ type }) => {
      asked[type] += 1;
      if (type === "A") return asked.A === 1 ? [] : ["127.0.0.1"];
      return asked.AAAA === 1 ? ["3fff:f000::1"] : ["::1"];
    });
    // What a connection that looks the name up by itself would get.
    const lookup = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, found: Found) =>
        found(null, [{ address: "127.0.0.1", family: 4 }])) as typeof dns.lookup);
    closing.push(async () => lookup.mockRestore());
    const { outcome } = await send(`https://hooks.acme.io:${inside.port}/`, 0.5);
    expect(outcome).toHaveProperty("failure");
    expect(accepted).toBe(0);
    expect(lookup).not.toHaveBeenCalled();
    expect(server.queries.map(({ type }) => type).sort()).toEqual(["A", "AAAA"]);
  });

  test("sends nothing on a connection that leads to another address than those that were checked", async () => {
    const receiver = await startReceiver();
    closing.push(receiver.close);
    const checked = `http://127.0.0.2:${receiver.port}`;
    allow(checked);
    const { connect } = net;
    const connecting = vi
      .spyOn(net, "connect")
      .mockImplementation(((options: net.TcpNetConnectOpts) =>
        connect({ ...options, host: "127.0.0.1" })) as typeof net.connect);
    closing.push(async () => connecting.mockRestore());
    expect((await send(checked)).outcome).toEqual({ failure: "destination is not public" });
    expect(connecting).toHaveBeenCalledOnce();
    expect(receiver.requests).toHaveLength(0);
  });

  type Found = (error: null, addresses: { address: string; family: number }[]) => void;
});

describe("afterwards", () => {
  test("no socket and no timer is left, whatever happened", async () => {
    const talks: ((socket: Socket) => void)[] = [
      (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
      (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nendless"),
      (socket) => socket.write("HTTP/1.1 500 No\r\n\r\nendless"),
      (socket) => socket.resetAndDestroy(),
      () => undefined,
    ];
    const servers = await Promise.all(talks.map((talk) => listen(talk)));
    const silent = await startNameServer(() => "silence");
    closing.push(silent.close);
    const urls = servers.flatMap(({ port }) => [`http://127.0.0.1:${port}/`, `https://127.0.0.1:${port}/`]);
    allow(...urls);
    // In a process of its own, where nothing else is open.
    const program = `
      import { setServers } from "node:dns";
      import { post } from ${outboundModule};
      setServers([${JSON.stringify(silent.address)}]);
      for (const url of ${JSON.stringify([...urls, "https://hooks.acme.io/"])}) {
        await post({ url, headers: {}, body: "{}", deadlineSeconds: 0.2 });
      }
      await post({ url: ${JSON.stringify(urls[0])}, headers: {}, body: "{}", deadlineSeconds: 10 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      console.log(JSON.stringify(process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap")));`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toEqual([]);
    for (const { connections } of servers) expect(connections.size).toBe(0);
  });

  test("a failure never tells the url, the headers or the answer", async () => {
    const receiver = await receive({
      respond: (_request, response) => response.writeHead(418, "s3cret", { "x-s3cret": "1" }).end("s3cret"),
    });
    const outcome = await post({
      url: `${receiver.origin}/s3cret`,
      headers: { a: "s3cret" },
      body: "s3cret",
    });
    expect(outcome).toEqual({ failure: "HTTP 418" });
    const unsendable = await post({ url: receiver.origin, headers: { a: "s3cret\n" }, body: "" });
    expect(JSON.stringify(unsendable)).not.toContain("s3cret");
  });
});
