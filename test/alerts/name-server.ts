import { createSocket } from "node:dgram";

export type RecordType = "A" | "AAAA";

/** The addresses that a name has at this moment; "no such name", or no answer at all. */
export type Answer = string[] | "no such name" | "silence";

export type NameServer = {
  /** As `dns.setServers` takes it: 127.0.0.1:port. */
  address: string;
  queries: { name: string; type: RecordType }[];
  close: () => Promise<void>;
};

/** Starts a DNS server (RFC 1035, UDP) on a free port of 127.0.0.1 that answers A and AAAA queries. */
export async function startNameServer(
  answer: (query: { name: string; type: RecordType }) => Answer,
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const queries: NameServer["queries"] = [];
  socket.on("message", (message, { address, port }) => {
    const question = readQuestion(message);
    queries.push({ name: question.name, type: question.type });
    const found = answer(question);
    if (found !== "silence") socket.send(reply(message, question, found), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

type Question = { name: string; type: RecordType; end: number };

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === 28 ? "AAAA" : "A";
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

function reply(message: Buffer, { type, end }: Question, found: string[] | "no such name"): Buffer {
  const addresses = found === "no such name" ? [] : found;
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(found === "no such name" ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = type === "A" ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);
    // The name is a pointer to the question; class IN; time to live 0.
    const record = Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, message.subarray(12, end), ...records]);
}

/** Reads hexadecimal groups with at most one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
