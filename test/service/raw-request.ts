import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { inject } from "vitest";

/** Sends bytes as they are on one connection and gives all that comes back until its end. */
export const exchange = (bytes: string | Buffer): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(inject("apiUrl"));
    // Requests are limited by source address, so each connection has its own.
    const localAddress = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    let text = "";
    const end = () => resolve(text);
    socket.setEncoding("utf8");
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", end);
    socket.on("close", end);
    socket.setTimeout(15_000, () => socket.destroy());
    socket.write(bytes);
  });

/** The statuses of all answers in what came back. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

/** A request without a body, after which the connection ends unless `Connection` is given. */
export const requestText = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): string => {
  const all = { Host: "localhost", Connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
};
