/** Rows carry the version of their form, and those of a later release are left alone. */
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { absent, condition, exists } from "../../../shared/aws/table/condition.ts";
import type { Key } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { NewerVersion, newestVersion } from "../../../shared/contract/version.ts";
import { useEngine } from "./engine.ts";
import { store, storedRows } from "./stored-rows.ts";

const newer = newestVersion + 1;

useEngine();
let key: Key;
let count = 0;

beforeEach(() => {
  key = { pk: `ROW#${++count}`, sk: "ROW" };
});

/** The row as it is stored. */
const stored = async () => (await storedRows()).find(({ pk }) => pk?.S === key.pk);

/** Stores a row as another release would. */
const storeAs = (row: object) => store([marshall({ ...key, value: 1, ...row })]);

describe("what is written carries the version", () => {
  test.each([
    ["a put", () => table.put({ ...key, value: 1 })],
    ["an update that makes the row", () => table.update(key, { add: { value: 1 } })],
    ["a put in a transaction", () => table.transact([{ put: { ...key, value: 1 } }])],
    ["an update in a transaction", () => table.transact([{ update: key, set: { value: 1 } }])],
  ])("%s", async (_, write) => {
    await write();
    expect(await stored()).toMatchObject({ value: { N: "1" }, v: { N: "1" } });
    expect(await table.get(key)).toEqual({ ...key, value: 1 });
  });
});

test("attributes that a later release has added survive an update", async () => {
  await storeAs({ v: 1, added: "later" });
  await table.update(key, { set: { value: 2 }, if: condition("#value = :value", { value: 1 }) });
  expect(await table.get(key)).toEqual({ ...key, value: 2, added: "later" });
});

describe("a row of a newer version", () => {
  beforeEach(() => storeAs({ v: newer }));

  test.each([
    ["get", () => table.get(key)],
    ["getMany", () => table.getMany([key])],
    ["getManyWire of some attributes", () => table.getManyWire([key], { project: ["value"] })],
    ["query", () => table.query({ pk: key.pk })],
    ["query of some attributes", () => table.query({ pk: key.pk, project: ["value"] })],
    ["put", () => table.put({ ...key })],
    ["put if it is absent", () => table.put({ ...key }, absent)],
    ["update", () => table.update(key, { add: { value: 1 } })],
    ["update on a condition", () => table.update(key, { set: { value: 2 }, if: exists })],
    ["remove", () => table.remove(key)],
    ["attempt", () => table.attempt(table.remove(key, exists))],
    ["put in a transaction", () => table.transact([{ put: { ...key } }])],
    ["update in a transaction", () => table.transact([{ update: key, set: { value: 2 } }])],
    ["delete in a transaction", () => table.transact([{ delete: key, if: exists }])],
    ["check in a transaction", () => table.transact([{ check: key, if: exists }])],
  ])("is refused and left alone by %s", async (_, use) => {
    await expect(use()).rejects.toThrow(NewerVersion);
    expect(await stored()).toEqual(marshall({ ...key, value: 1, v: newer }));
  });

  test("keeps a transaction from writing any other row", async () => {
    const other = { pk: `${key.pk}#OTHER`, sk: "ROW" };
    const writes = [{ put: { ...other } }, { update: key, set: { value: 2 } }];
    await expect(table.transact(writes)).rejects.toThrow(NewerVersion);
    expect(await table.get(other)).toBeUndefined();
  });

  test("is named without what it holds", async () => {
    await expect(table.get(key)).rejects.toThrow(/^A row has version \d+, [^:]*: deploy the release/);
  });
});

test.each(["1", null, Number.NaN])("a version that is no number, %s, is refused too", async (v) => {
  await store([{ ...marshall({ ...key }), v: v === null ? { NULL: true } : { S: String(v) } }]);
  await expect(table.get(key)).rejects.toThrow(NewerVersion);
});
