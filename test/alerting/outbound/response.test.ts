import type { OutgoingHttpHeaders, RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../../../local/harness/receiver.ts";
import type { AttemptResult } from "../../../shared/alerting/kinds/kind.ts";
import { post } from "../../../shared/alerting/kinds/outbound.ts";
import reports from "../../cases/reports.json" with { type: "json" };
import { allow, closing, listen, receive, send } from "./set-up.ts";

const endWith =
  (status: number, headers: OutgoingHttpHeaders = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end();

describe("the answer", () => {
  const answering = (text: string, status = 500) =>
    receive({ respond: (_request, response) => response.writeHead(status).end(text) });

  test.each([
    [200, "ok\n", "ok"],
    [429, "slower", "slower"],
    [500, "one\r\n\ttwo \u202e\u0007 three", "one two three"],
    [404, "x".repeat(20_000), `${"x".repeat(199)}…`],
  ])("of status %d is the first 200 printable characters", async (status, text, body) => {
    const receiver = await answering(text, status);
    expect((await send(receiver.origin)).response).toEqual({ status, body });
  });

  test.each([
    ["<pre>Cannot POST /hooks/T0KEN-1%20x?key=K3Y-OF-IT&B4RE-K3Y</pre>", "<pre>Cannot POST ……</pre>"],
    ["no hook 'T0KEN-1 x' of K3Y-OF-IT or B4RE-K3Y", "no hook '…' of … or …"],
    ["signature c0ffee00 of ada@acme.example is wrong", "signature … of … is wrong"],
  ])("has neither what is secret of the request nor an address: %s", async (text, body) => {
    const receiver = await answering(text, 404);
    const url = `${receiver.origin}/hooks/T0KEN-1%20x?key=K3Y-OF-IT&B4RE-K3Y`;
    const { response } = await post({ url, headers: { "x-signature": "v1,c0ffee00" }, body: "{}" });
    expect(response).toEqual({ status: 404, body });
  });

  test("has no body if only the status line came, and is none without it", async () => {
    const cut = await listen((socket) => socket.end("HTTP/1.1 503 Down\r\nx : y\r\n\r\nok"));
    expect((await send(cut.origin)).response).toEqual({ status: 503, body: "" });
    const silent = await listen((socket) => socket.destroy());
    expect((await send(silent.origin)).response).toBeUndefined();
  });
});

describe("a response:", () => {
  test.each([200, 201, 202, 204, 299])("%d is delivered", async (status) => {
    const receiver = await receive({ respond: endWith(status) });
    expect((await send(receiver.origin)).result).toEqual({ status });
  });

  test.each([304, 400, 404, 410, 500, 503])("%d is a failure", async (status) => {
    const receiver = await receive({ respond: endWith(status) });
    expect((await send(receiver.origin)).result).toEqual({ failure: `HTTP ${status}` });
  });

  test.each([
    ["30", 30],
    ["999999999", 3_600],
    ["-1", 0],
    ["Wed, 21 Oct 2099 07:28:00 GMT", 0],
    [undefined, 0],
  ])(
    "429 with Retry-After %s is a failure with a pause in seconds",
    async (retryAfter, retryAfterSeconds) => {
      const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
      const receiver = await receive({ respond: endWith(429, headers) });
      expect((await send(receiver.origin)).result).toEqual({ failure: "HTTP 429", retryAfterSeconds });
    },
  );

  test.each([301, 302, 303, 307, 308])("a redirect (%d) is not followed", async (status) => {
    const target = await startReceiver();
    closing.push(target.close);
    const receiver = await receive({ respond: endWith(status, { location: `${target.origin}/secret` }) });
    allow(receiver.origin, target.origin);
    expect((await send(receiver.origin)).result).toEqual({ failure: `redirect (${status}) not followed` });
    expect(target.requests).toHaveLength(0);
    expect(receiver.requests).toHaveLength(1);
  });

  test("an informational response in front of the final one is skipped", async () => {
    const { origin } = await listen((socket) =>
      socket.end(
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
      ),
    );
    expect((await send(origin)).result).toEqual({ status: 200 });
  });

  test("a 2xx with a dripping body is delivered, and ends at the deadline", async () => {
    const receiver = await receive({
      respond: (_request, response) => {
        const drip = setInterval(() => response.write("."), 50);
        response.writeHead(200).on("close", () => clearInterval(drip));
      },
    });
    expect((await send(receiver.origin, 0.5)).result).toEqual({ status: 200 });
    await expect.poll(() => receiver.connections.size).toBe(0);
  });

  test.each([
    ["without a length", {}],
    ["with a great length", { "content-length": "1000000000" }],
    ["that says it is compressed", { "content-encoding": "gzip" }],
  ])("a 2xx with an endless body %s is delivered at once", async (_name, headers) => {
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
    expect((await send(receiver.origin)).result).toEqual({ status: 200 });
    await expect.poll(() => receiver.connections.size).toBe(0);
    // The buffers of the loopback take more than the 16 KiB that are read.
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  test("a compressed body is not decompressed", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "a"));
    const receiver = await receive({
      respond: (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    });
    const { result, response } = await send(receiver.origin);
    expect(result).toEqual({ status: 200 });
    expect(response?.body).not.toContain("aaa");
  });

  test("a 2xx that is reset after its headers is delivered", async () => {
    const { origin } = await listen((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc");
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    expect((await send(origin)).result).toEqual({ status: 200 });
  });

  test("a 2xx is delivered even without the empty line after its headers", async () => {
    const { origin } = await listen((socket) => socket.end("HTTP/1.1 200 OK\r\nx: y\r\n"));
    expect((await send(origin)).result).toEqual({ status: 200 });
  });

  const malformed: [string, string][] = [
    [
      "two ways to say where the body ends",
      "\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
    ],
    ["lines that end without CR", "\ncontent-length: 2\n\nok"],
    ["a last line that ends without CR", "\r\nx: y\n\nok"],
    ["the same length twice", "\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok"],
    ["two lengths", "\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"],
    ["a negative length", "\r\ncontent-length: -1\r\n\r\n"],
    ["a space before a colon", "\r\nx : y\r\n\r\nok"],
    ["a header without a colon", "\r\ngarbage\r\n\r\nok"],
    ["a folded header", "\r\nx: a\r\n b\r\n\r\nok"],
    ["a control character", "\r\nx: \u0001\r\n\r\nok"],
    ["a broken chunk", "\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  ];
  test.each(malformed)("a response with %s is judged by its status", async (_name, rest) => {
    const answers: [string, AttemptResult][] = [
      ["HTTP/1.1 200 OK", { status: 200 }],
      ["HTTP/1.1 204", { status: 204 }],
      ["HTTP/1.1 307 Moved", { failure: "redirect (307) not followed" }],
      ["HTTP/1.1 429 Slower", { failure: "HTTP 429", retryAfterSeconds: 0 }],
      ["HTTP/1.0 503 Down", { failure: "HTTP 503" }],
    ];
    for (const [line, expected] of answers) {
      // In two pieces, as networks may cut it; the connection stays open, as if there were more.
      const { origin, connections } = await listen((socket) => {
        socket.write(line.slice(0, 10));
        setTimeout(() => socket.write(line.slice(10) + rest), 20);
      });
      expect([line, (await send(origin)).result]).toEqual([line, expected]);
      await expect.poll(() => connections.size).toBe(0);
    }
  });

  test.each(reports.receivers)("as reported in $reported", async ({ response, result }) => {
    const { origin } = await listen((socket) => socket.end(Buffer.from(response, "latin1")));
    expect((await send(origin)).result).toEqual(result);
  });

  test("a failure is returned before its body arrives", async () => {
    const receiver = await receive({ respond: (_request, response) => response.writeHead(500).write("...") });
    expect((await send(receiver.origin)).result).toEqual({ failure: "HTTP 500" });
    await expect.poll(() => receiver.connections.size).toBe(0);
  });
});
