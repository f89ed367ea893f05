/** What a release stored and sent, as record.ts wrote it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DynamoDBClient,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { HibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import { open, seal } from "../../shared/alerting/channels/seal.ts";
import { type Key, organizationOf } from "../../shared/aws/table/keys.ts";
import { fromWire } from "../../shared/aws/table/table.ts";

/** The recordings, the oldest first. Each release that changes a form adds one of the release before. */
export const recordings = [
  "before-versions.json",
  "before-sealed-channels.json",
  "before-guarded-organizations.json",
] as const;

export type Recording = {
  /** ISO 8601. */
  recordedAt: string;
  /** The origin of the webhooks' receiver at that time. */
  receiver: string;
  /** Of a recording that `madeLately` gave another receiver: the one before. */
  formerReceiver?: string;
  /** What Have I Been Pwned knew: address to names of breaches, all breaches, and the subscription's domains. */
  accounts: Record<string, string[]>;
  breaches: string[];
  covered: string[];
  /** By what is in flight. The keys were made for the recording. */
  organizations: Record<string, { id: number; key?: string; session?: string; signInToken?: string }>;
  /** The key of alert channels, which was made for the recording. Absent in recordings of before channels were sealed. */
  channelKey?: string;
  /** What the API answered about the organization `used`. */
  answers: { part: "v1" | "dashboard"; path: string; body: Record<string, unknown> }[];
  /** Messages that were sent and not received. */
  messages: { queue: string; body: string }[];
  /** As on the wire; in the file, binary values are in base64. */
  rows: WireRow[];
};

export type WireRow = Record<string, AttributeValue>;

/**
 * A recording as if it had been made a minute ago, with another receiver: what a release stored must still be read years later, but sessions and
 * scans in progress only last for a while.
 */
export const madeLately = (name: string, receiver: string): Recording => {
  const text = readFileSync(join(import.meta.dirname, name), "utf8");
  const { recordedAt, receiver: before } = JSON.parse(text) as Recording;
  const difference = differenceTo(new Date(), recordedAt);
  const later = (time: string): string => new Date(Date.parse(time) + difference).toISOString();
  const [monthBefore, month] = [recordedAt, later(recordedAt)].map((time) => time.slice(0, 7));
  const recording: Recording = JSON.parse(
    text
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, later)
      .replaceAll(new RegExp(`"${monthBefore}-([01])"`, "g"), `"${month}-$1"`)
      .replaceAll(before, receiver),
  );
  return {
    ...recording,
    formerReceiver: before,
    rows: recording.rows.map((row) => storedRow(row, difference)),
  };
};

/** Findings are counted by month: everything, which took minutes, has to lie in one. */
const pack = (value: unknown): Uint8Array => deflateRawSync(JSON.stringify(value));
const unpack = (bytes: Uint8Array) => JSON.parse(inflateRawSync(bytes).toString());

const differenceTo = (now: Date, recordedAt: string): number => {
  const isNewMonth = now.getUTCDate() === 1 && now.getUTCHours() === 0;
  const minutes = isNewMonth ? 60 : 1;
  const milliseconds = now.getTime() - minutes * 60_000 - Date.parse(recordedAt);
  // Some times are stored in whole seconds.
  return Math.floor(milliseconds / 1000) * 1000;
};

const storedRow = (row: WireRow, difference: number): WireRow => {
  const stored = bytesIn(row) as WireRow;
  const { expiresAt, fold } = stored;
  if (expiresAt?.N !== undefined) {
    stored.expiresAt = { N: String(Number(expiresAt.N) + difference / 1000) };
  }
  if (fold?.B !== undefined)
    stored.fold = { B: Uint8Array.from(pack(laterFold(unpack(fold.B), difference))) };
  return stored;
};

/** A fold keeps the time of its first block, in milliseconds, and differences. */
const laterFold = (fold: { from: number[][] }, difference: number) => {
  const [[block, milliseconds, ...others] = [], ...runs] = fold.from;
  if (block === undefined || milliseconds === undefined) return fold;
  return { ...fold, from: [[block, milliseconds + difference, ...others], ...runs] };
};

/**
 * Stores the key of the recording's alert channels in the parameter, before the deployment makes one of its own. Sealed urls are those
 * of the receiver of that time: they are opened with this release's code and sealed again with the present receiver.
 */
export const takeOverChannels = async (
  { channelKey, formerReceiver = "", receiver, rows }: Recording,
  parameter: string,
): Promise<void> => {
  if (channelKey === undefined) return;
  const put = { Name: parameter, Type: "SecureString", Value: channelKey } as const;
  await new SSMClient().send(new PutParameterCommand(put));
  process.env.CHANNEL_KEY_PARAMETER = parameter;
  for (const row of rows.filter(({ sealed }) => sealed !== undefined)) {
    const channel = fromWire<Channel & Key>(row);
    const org = organizationOf(channel);
    const { config, ...form } = await open(org, channel);
    const present = JSON.parse(JSON.stringify(config).replaceAll(formerReceiver, receiver));
    const { sealed } = (await seal(org, channel.id, { ...form, config: present })) as { sealed: string };
    row.sealed = { S: sealed };
  }
};

/** Binary values as bytes. No attribute has the name of a type. */
const bytesIn = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(bytesIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === "B" && typeof each === "string" ? Uint8Array.from(Buffer.from(each, "base64")) : bytesIn(each),
    ]),
  );
};

/** DynamoDB takes this many writes in a batch. */
const batchSize = 25;

/** Writes rows as they are, to the table TABLE_NAME. */
export const store = async (rows: readonly WireRow[]): Promise<void> => {
  const client = new DynamoDBClient();
  const tableName = process.env.TABLE_NAME ?? "";
  for (let start = 0; start < rows.length; start += batchSize) {
    let left = rows.slice(start, start + batchSize).map((Item) => ({ PutRequest: { Item } }));
    while (left.length > 0) {
      const reply = await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: left } }));
      left = (reply.UnprocessedItems?.[tableName] ?? []) as typeof left;
      if (left.length > 0) await setTimeout(100);
    }
  }
  client.destroy();
};

/** Every row of the table TABLE_NAME, as it is. */
export const storedRows = async (): Promise<WireRow[]> => {
  const client = new DynamoDBClient();
  const rows: WireRow[] = [];
  for await (const page of paginateScan(
    { client },
    { TableName: process.env.TABLE_NAME, ConsistentRead: true },
  )) {
    rows.push(...(page.Items ?? []));
  }
  client.destroy();
  return rows;
};

/** The HIBP stand-in knows what it knew then. */
export const teach = (hibp: HibpServer, { accounts, breaches, covered }: Recording): void => {
  hibp.accounts = { ...accounts };
  hibp.catalog = breaches.map((name) => inventedBreach(name));
  hibp.covered = [...covered];
};
