import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { startReceiver } from "../../../local/harness/receiver.ts";
import { allow, listen, resolveNames, send } from "./set-up.ts";

describe("no response", () => {
  test.each([
    ["nothing at all", () => undefined],
    ["dripping headers", (socket: Socket) => void drip(socket, "HTTP/1.1 200 OK\r\nx: ", "a")],
    [
      "informational responses without end",
      (socket: Socket) => void drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
  ])("within the deadline: %s", async (_name, talk) => {
    const { origin, connections } = await listen(talk);
    expect((await send(origin, 0.4)).result).toEqual({ failure: "timeout" });
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
    expect((await send(`https://127.0.0.1:${server.port}/`, 0.4)).result).toEqual({ failure: "timeout" });
    await expect.poll(() => server.connections.size).toBe(0);
  });

  test("within the deadline: a silent name server", async () => {
    await resolveNames(() => "silence");
    expect((await send("https://hooks.acme.io/", 0.4)).result).toEqual({ failure: "timeout" });
  });

  test("because nothing listens at the port", async () => {
    const { origin, close } = await startReceiver();
    await close();
    allow(origin);
    expect((await send(origin)).result).toEqual({ failure: "connection refused" });
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
    expect((await send(origin)).result).toEqual({ failure: "connection reset" });
  });

  test.each([
    "220 mail.acme.io ESMTP s3cret\r\n",
    "HTTP/1.1 2x0 s3cret\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "s3cret\r\nHTTP/1.1 200 OK\r\n\r\n",
  ])("because the receiver does not speak HTTP: %j", async (answer) => {
    const { origin, connections } = await listen((socket) => socket.write(answer));
    expect((await send(origin)).result).toEqual({ failure: "not a valid HTTP response" });
    await expect.poll(() => connections.size).toBe(0);
  });

  test.each(["", "connection: upgrade\r\n"])(
    "because the receiver switches protocols (%j)",
    async (header) => {
      const { origin, connections } = await listen((socket) =>
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${header}upgrade: s3cret\r\n\r\n`),
      );
      expect((await send(origin)).result).toHaveProperty("failure");
      await expect.poll(() => connections.size).toBe(0);
    },
  );

  test("because the headers are too large", async () => {
    const { origin } = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(1 << 20)}`));
    expect((await send(origin)).result).toEqual({ failure: "response headers too large" });
  });

  test("because the name does not resolve", async () => {
    await resolveNames(() => "no such name");
    expect((await send("https://hooks.acme.io/")).result).toEqual({ failure: "name does not resolve" });
  });
});
