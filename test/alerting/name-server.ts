import { createSocket } from "node:dgram";

export type RecordType = "A" | "AAAA" | "TXT";

/**
 * A name's addresses or texts at this moment, "no such name" (NXDOMAIN), "failure" (SERVFAIL), or no reply at
 * all.
 */
export type Answer = string[] | "no such name" | "failure" | "silence";

export type NameServer = {
  /** In the form that `dns.setServers` takes: 127.0.0.1:port. */
  address: string;
  queries: { name: string; type: RecordType }[];
  close: () => Promise<void>;
};

/** Starts a DNS server (RFC 1035, UDP) on a free port of 127.0.0.1 that answers A, AAAA and TXT queries. */
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

const codes: Record<RecordType, number> = { A: 1, TXT: 16, AAAA: 28 };
const typesByCode: Record<number, RecordType> = { 1: "A", 16: "TXT", 28: "AAAA" };

type Question = { name: string; type: RecordType; end: number };

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = typesByCode[message.readUInt16BE(at + 1)] ?? "A";
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

function reply(message: Buffer, { type, end }: Question, found: Exclude<Answer, "silence">): Buffer {
  const values = typeof found === "string" ? [] : found;
  const header = Buffer.from(message.subarray(0, 12));
  const status = { "no such name": 0x8183, failure: 0x8182 } as const;
  header.writeUInt16BE(typeof found === "string" ? status[found] : 0x8180, 2);
  header.writeUInt16BE(values.length, 6);
  header.writeUInt32BE(0, 8);
  const records = values.map((value) => {
    const data = dataOf(type, value);
    // The name is a pointer to the question, the class IN, the time to live 0.
    const record = Buffer.from([0xc0, 12, 0, codes[type], 0, 1, 0, 0, 0, 0, 0, 0]);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, message.subarray(12, end), ...records]);
}

function dataOf(type: RecordType, value: string): Buffer {
  if (type === "A") return Buffer.from(value.split(".").map(Number));
  return type === "AAAA" ? ipv6Bytes(value) : textBytes(value);
}

/** A text in strings of at most 255 bytes, each after its length. */
function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings = Array.from({ length: Math.max(1, Math.ceil(bytes.length / 255)) }, (_, index) =>
    bytes.subarray(index * 255, (index + 1) * 255),
  );
  return Buffer.concat(strings.flatMap((part) => [Buffer.from([part.length]), part]));
}

/** The bytes of an address in hexadecimal groups with at most one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
