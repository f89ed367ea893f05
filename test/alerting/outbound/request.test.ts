import { execFile } from "node:child_process";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../../../local/harness/receiver.ts";
import { post } from "../../../shared/alerting/kinds/outbound.ts";
import { sign, signatureHeader } from "../../../shared/alerting/kinds/webhook/signature.ts";
import { startNameServer } from "../name-server.ts";
import { allow, closing, listen, outboundModule, receive, send } from "./set-up.ts";

describe("a request", () => {
  test("has the exact body, is JSON, and its signature verifies", async () => {
    const receiver = await receive();
    const body = Buffer.from('{"id":1,"ä":"\\u0000 "}');
    const url = `${receiver.origin}/hook/a%20b?x=1&y=%2F#part`;
    const result = await post({ url, headers: { [signatureHeader]: sign(body, "s3cret") }, body });
    expect(result).toEqual({ status: 204, response: { status: 204, body: "" } });
    const [request] = receiver.requests;
    expect(request?.method).toBe("POST");
    expect(request?.path).toBe("/hook/a%20b?x=1&y=%2F");
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: "close",
      "user-agent": "breach-monitor/1",
      accept: "*/*",
      "content-type": "application/json",
      "content-length": String(body.length),
      "x-service-signature": sign(body, "s3cret"),
    });
  });

  test("is sent once, and each request on a connection of its own", async () => {
    const receiver = await receive();
    const results = await Promise.all(Array.from({ length: 20 }, () => send(receiver.origin)));
    expect(results.every(({ result }) => "status" in result)).toBe(true);
    expect(receiver.requests).toHaveLength(20);
    await expect.poll(() => receiver.connections.size).toBe(0);
  });

  test("ignores proxies that the environment names", async () => {
    const proxy = await startReceiver();
    closing.push(proxy.close);
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"]) {
      process.env[name] = proxy.origin;
    }
    process.env.NODE_USE_ENV_PROXY = "1";
    const receiver = await receive();
    expect((await send(receiver.origin)).result).toEqual({ status: 204 });
    expect(receiver.requests).toHaveLength(1);
    // A new process, because Node reads the variables when it starts.
    const program = `
      import { post } from ${outboundModule};
      console.log(JSON.stringify(await post({ url: ${JSON.stringify(receiver.origin)}, headers: {}, body: "{}" })));`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 204 });
    expect(proxy.connections.size).toBe(0);
    expect(proxy.requests).toHaveLength(0);
    expect(receiver.requests).toHaveLength(2);
  });
});

describe("after a request", () => {
  test("no socket and no timer is left, however it ended", async () => {
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
    // A new process, because nothing else is open there.
    const program = `
      import { setServers } from "node:dns";
      import { post } from ${outboundModule};
      setServers([${JSON.stringify(silent.address)}]);
      for (const url of ${JSON.stringify([...urls, "https://hooks.acme.io/"])}) {
        await post({ url, headers: {}, body: "{}", deadlineSeconds: 0.2 });
      }
      await post({ url: ${JSON.stringify(urls[0])}, headers: {}, body: "{}", deadlineSeconds: 10 });
      const open = () => process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap");
      for (let tries = 0; tries < 200 && open().length > 0; tries++)
        await new Promise((resolve) => setTimeout(resolve, 50));
      console.log(JSON.stringify(open()));`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toEqual([]);
    for (const { connections } of servers) await expect.poll(() => connections.size).toBe(0);
  });

  test("its failure has nothing of the url, the headers or the response", async () => {
    const receiver = await receive({
      respond: (_request, response) => response.writeHead(418, "s3cret", { "x-s3cret": "1" }).end("s3cret"),
    });
    const result = await post({
      url: `${receiver.origin}/s3cret`,
      headers: { a: "s3cret" },
      body: "s3cret",
    });
    expect(result).toEqual({ failure: "HTTP 418", response: { status: 418, body: "…" } });
    const unsendable = await post({ url: receiver.origin, headers: { a: "s3cret\n" }, body: "" });
    expect(JSON.stringify(unsendable)).not.toContain("s3cret");
  });
});
