/** The bytes that DynamoDB bills for stored rows, by its rules for the size of items. */
import { dueIndex } from "../shared/aws/table/keys.ts";
import type { Row } from "./seed/shape.ts";

/** Added to each item of the table and of an index, for the index that DynamoDB itself keeps. */
const overhead = 100;

/** Bytes of these rows and of their copies in the due index, which hold only keys. */
export const storedBytes = (rows: Iterable<Row>): number => {
  let bytes = 0;
  for (const row of rows) {
    bytes += overhead + sizeOfAttributes(row);
    const { pk, sk, [dueIndex.partition]: shard, [dueIndex.sort]: dueAt } = row;
    if (shard === undefined || dueAt === undefined) continue;
    bytes += overhead + sizeOfAttributes({ pk, sk, [dueIndex.partition]: shard, [dueIndex.sort]: dueAt });
  }
  return bytes;
};

const sizeOfAttributes = (attributes: object): number =>
  sum(
    Object.entries(attributes)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => Buffer.byteLength(name) + sizeOf(value)),
  );

const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "number") return Math.ceil(significantDigits(value) / 2) + 1;
  if (value instanceof Set) return sum([...value].map(sizeOf));
  if (Array.isArray(value)) return 3 + sum(value.map((each) => 1 + sizeOf(each)));
  if (typeof value === "object" && value !== null)
    return 3 + Object.keys(value).length + sizeOfAttributes(value);
  return 1;
};

const significantDigits = (value: number): number =>
  String(value)
    .replace(/[-.]/g, "")
    .replace(/^0+|0+$/g, "").length;

const sum = (sizes: readonly number[]): number => sizes.reduce((total, each) => total + each, 0);
