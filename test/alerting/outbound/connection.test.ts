import dns from "node:dns";
import { readFileSync } from "node:fs";
import net, { createServer } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { type Certificate, startReceiver } from "../../../local/harness/receiver.ts";
import { listenOn } from "../../../local/loopback.ts";
import { parseDestination, resolveDestination } from "../../../shared/alerting/kinds/destination.ts";
import type { RecordType } from "../name-server.ts";
import { allow, closing, receive, resolveNames, send, trust } from "./set-up.ts";

const readCertificate = (name: string): Certificate => {
  const read = (kind: string) =>
    readFileSync(new URL(`../../cases/${name}.${kind}.pem`, import.meta.url), "utf8");
  return { cert: read("cert"), key: read("key") };
};
/** Self-signed: one for localhost and 127.0.0.1, one for another host. */
const loopbackCertificate = readCertificate("loopback-test");
const otherHostCertificate = readCertificate("other-host-test");

describe("TLS", () => {
  test("an untrusted certificate is refused, even if the environment allows it", async () => {
    const receiver = await receive({ tls: loopbackCertificate });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    expect((await send(receiver.origin)).result).toEqual({ failure: "TLS certificate not valid" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("a trusted certificate proves a name, which is sent as SNI, or an address", async () => {
    const names: (string | false | undefined)[] = [];
    const server = createTlsServer(loopbackCertificate, (socket) => {
      names.push((socket as TLSSocket & { servername?: string | false }).servername);
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    const { port, close } = await listenOn(server);
    closing.push(close);
    trust(loopbackCertificate.cert);
    const urls = [`https://localhost:${port}/`, `https://127.0.0.1:${port}/`];
    allow(...urls);
    for (const url of urls) expect((await send(url)).result).toEqual({ status: 200 });
    expect(names).toEqual(["localhost", false]);
  });

  test("a trusted certificate of another host is refused", async () => {
    const receiver = await receive({ tls: otherHostCertificate });
    trust(otherHostCertificate.cert);
    expect((await send(receiver.origin)).result).toEqual({ failure: "TLS certificate not valid" });
    expect(receiver.requests).toHaveLength(0);
  });

  test("a receiver of plain HTTP behind an https url fails", async () => {
    const receiver = await receive();
    const origin = receiver.origin.replace("http:", "https:");
    allow(origin);
    expect((await send(origin)).result).toEqual({ failure: "TLS handshake failed" });
  });
});

describe("destinations", () => {
  test("refuse a url without a connection", async () => {
    const receiver = await receive();
    const { result } = await send(`https://127.0.0.1:${receiver.port}/`);
    expect(result).toEqual({ failure: "destination is not public" });
    expect(receiver.connections.size).toBe(0);
  });

  test("hold at each send: a name that has become internal is refused", async () => {
    const receiver = await receive({ tls: loopbackCertificate });
    let addresses = ["1.1.1.1"];
    await resolveNames(({ type }) => (type === "A" ? addresses : []));
    const url = `https://hooks.acme.io:${receiver.port}/`;
    const parsed = parseDestination(url);
    const written = parsed.ok && (await resolveDestination(parsed, { signal: AbortSignal.timeout(60_000) }));
    expect(written).toMatchObject({ ok: true });
    addresses = ["127.0.0.1"];
    expect((await send(url)).result).toEqual({ failure: "destination is not public" });
    expect(receiver.connections.size).toBe(0);
  });

  test("bind the connection to the checked addresses (DNS rebinding)", async () => {
    let accepted = 0;
    const inside = await listenOn(createServer(() => accepted++));
    closing.push(inside.close);
    const asked: Record<RecordType, number> = { A: 0, AAAA: 0, TXT: 0 };
    // The first reply is a public address that nobody has, the later ones are the loopback's.
    const server = await resolveNames(({ type }) => {
      asked[type] += 1;
      if (type === "A") return asked.A === 1 ? [] : ["127.0.0.1"];
      return asked.AAAA === 1 ? ["3fff:f000::1"] : ["::1"];
    });
    // A connection that looks the name up by itself would get the loopback.
    const lookup = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name: string, _options: object, found: Found) =>
        found(null, [{ address: "127.0.0.1", family: 4 }])) as typeof dns.lookup);
    closing.push(async () => lookup.mockRestore());
    const { result } = await send(`https://hooks.acme.io:${inside.port}/`, 0.5);
    expect(result).toHaveProperty("failure");
    expect(accepted).toBe(0);
    expect(lookup).not.toHaveBeenCalled();
    expect(server.queries.map(({ type }) => type).sort()).toEqual(["A", "AAAA"]);
  });

  test("get nothing if the peer is not one of the checked addresses", async () => {
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
    expect((await send(checked)).result).toEqual({ failure: "destination is not public" });
    expect(connecting).toHaveBeenCalledOnce();
    expect(receiver.requests).toHaveLength(0);
  });

  type Found = (error: null, addresses: { address: string; family: number }[]) => void;
});
