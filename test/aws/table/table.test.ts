import { inspect } from "node:util";
import { LogFormatter, LogItem } from "@aws-lambda-powertools/logger";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { chunk } from "../../../shared/aws/table/chunk.ts";
import { absent, condition, exists, type Write } from "../../../shared/aws/table/condition.ts";
import { dueIndex, type Key } from "../../../shared/aws/table/keys.ts";
import { withTimeOf, withTimeOfPeople } from "../../../shared/aws/table/patience.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { useEngine } from "./engine.ts";
import { intercept, type Request } from "./intercept.ts";

/** What becomes of the next `times` requests of one operation. */
type Fault = {
  /** The operation, such as "BatchGetItem". */
  target: string;
  times: number;
  /** The table refuses it with this error, and does nothing. */
  error?: Error;
  /** The table does as asked, and its reply gets lost. */
  cut?: boolean;
  /** Replaces the reply. */
  answer?: (asked: Record<string, unknown>) => object;
};

useEngine();
let fault: Fault | undefined;
/** What each request takes by the clock of this process, where a test stops it. */
let requestMilliseconds = 0;
const seen: Record<string, unknown>[] = [];

beforeAll(() => {
  intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const { headers, body } = sent.request;
    const asked = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    seen.push(asked);
    if (vi.isFakeTimers()) vi.setSystemTime(Date.now() + requestMilliseconds);
    const isMeant = headers["x-amz-target"]?.endsWith(`.${fault?.target}`) === true;
    const active = isMeant && fault !== undefined && fault.times-- > 0 ? fault : undefined;
    if (active?.error !== undefined) throw active.error;
    const reply = await next(sent);
    if (active?.cut === true)
      throw Object.assign(new Error("socket hang up"), { name: "TimeoutError", code: "ECONNRESET" });
    return active?.answer === undefined ? reply : { ...reply, output: active.answer(asked) };
  });
});
afterEach(() => {
  fault = undefined;
  requestMilliseconds = 0;
  vi.useRealTimers();
});

type Send = () => Promise<void>;

let rows = 0;
const newKey = (): Key => ({ pk: `row-${++rows}`, sk: "1" });

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: "Transaction cancelled",
    CancellationReasons: codes.map((Code) => ({ Code })),
    $metadata: {},
  });

describe("reads", () => {
  test("getMany keeps the order of its keys, even if repeated or missing", async () => {
    const keys = Array.from({ length: 230 }, (_, index) => ({ pk: "many", sk: String(index) }));
    const present = keys.filter((_, index) => index % 3 !== 0);
    // A few at a time: an engine that has just started is slow.
    for (const some of chunk(present, 25)) {
      await Promise.all(some.map((key) => table.put({ ...key, name: `n${key.sk}` })));
    }
    const asked = [...keys].reverse().flatMap((key, index) => (index % 10 === 0 ? [key, key] : [key]));
    const items = await table.getMany<{ name: string }>(asked);
    expect(items.map((item) => item?.name)).toEqual(
      asked.map((key) => (Number(key.sk) % 3 === 0 ? undefined : `n${key.sk}`)),
    );
  });

  test("getMany asks again for keys that a batch left unprocessed", async () => {
    const keys = [newKey(), newKey(), newKey()];
    for (const key of keys) await table.put({ ...key, here: true });
    fault = {
      target: "BatchGetItem",
      times: 2,
      answer: (asked) => ({ $metadata: {}, UnprocessedKeys: asked.RequestItems }),
    };
    expect((await table.getMany(keys)).every((item) => item?.here === true)).toBe(true);
  });

  test("a query reads pages of 1 MB up to its limit, in both directions", async () => {
    const text = "x".repeat(100_000);
    for (let index = 10; index < 35; index++) await table.put({ pk: "long", sk: `a${index}`, text });
    await table.put({ pk: "long", sk: "b" });
    const sks = (items: table.QueryInput) =>
      table.query<Key>(items).then((all) => all.map((item) => item.sk));
    expect((await sks({ pk: "long" })).length).toBe(26);
    expect((await sks({ pk: "long", prefix: "a" })).length).toBe(25);
    expect(await sks({ pk: "long", descending: true, limit: 2 })).toEqual(["b", "a34"]);
    expect((await sks({ pk: "long", limit: 17 })).length).toBe(17);
    expect(await sks({ pk: "long", from: "a12", to: "a14" })).toEqual(["a12", "a13", "a14"]);
    expect(await sks({ pk: "long", from: "a14", to: "a12" })).toEqual([]);
    expect(await sks({ pk: "long", from: "a34" })).toEqual(["a34", "b"]);
    const projected = await table.query({ pk: "long", to: "a11", project: ["sk"] });
    expect(projected).toEqual([{ sk: "a10" }, { sk: "a11" }]);
    let pages = 0;
    for await (const _ of table.queryPages({ pk: "long" })) pages++;
    expect(pages).toBeGreaterThan(2);
  });

  test("a query of an index selects by the keys of the index", async () => {
    const due = { [dueIndex.partition]: "SCAN#1", [dueIndex.sort]: "2030-01-01" };
    await table.put({ pk: "due", sk: "1", ...due, more: 1 });
    const found = await table.query<Key>({ pk: "SCAN#1", to: "2031", index: dueIndex });
    expect(found.map((item) => item.pk)).toEqual(["due"]);
    expect(await table.query({ pk: "SCAN#1", to: "2029", index: dueIndex })).toEqual([]);
  });
});

test("an error of a failed condition shows no row when it is logged", async () => {
  const key = newKey();
  await table.put({ ...key, secret: "whsec_hidden" });
  const refusals = await Promise.all([
    table.put(key, absent).catch((error: unknown) => error),
    table.transact([{ put: key, if: absent }]).catch((error: unknown) => error),
  ]);
  expect(refusals).toMatchObject([
    { name: "ConditionFailed", item: { secret: "whsec_hidden" } },
    { name: "TransactionRefused", failed: [{ index: 0, item: { secret: "whsec_hidden" } }] },
  ]);
  const formatter = new (class extends LogFormatter {
    formatAttributes = () => new LogItem({ attributes: {} });
  })();
  const logged = JSON.stringify(refusals.map((error) => formatter.formatError(error as Error)));
  expect(logged).toContain("Conditions of a transaction did not hold");
  for (const shown of [logged, JSON.stringify(refusals), inspect(refusals, { depth: 9 })]) {
    expect(shown).not.toContain("whsec_hidden");
  }
});

describe("writes of one row", () => {
  test("a failed condition throws ConditionFailed with the current row", async () => {
    const key = newKey();
    await table.put({ ...key, status: "running", members: new Set([1, 2]) }, absent);
    const row = { ...key, status: "running", members: new Set([1, 2]) };
    const isDone = condition("#status = :done", { done: "done" });
    await expect(table.put(key, absent)).rejects.toMatchObject({ name: "ConditionFailed", item: row });
    await expect(table.update(key, { add: { n: 1 }, if: isDone })).rejects.toMatchObject({ item: row });
    await expect(table.remove(key, isDone)).rejects.toMatchObject({ item: row });
    await expect(table.remove(newKey(), exists)).rejects.toMatchObject({ item: undefined });
    expect(await table.get(key)).toEqual(row);
  });

  test("one update sets, adds and removes by path, even odd names", async () => {
    const key = newKey();
    await table.put({ ...key, map: { "12": 1, gone: 1 }, size: 1, "12-_-1": 1, members: new Set(["a"]) });
    const after = await table.update(key, {
      set: { "map.13": 2, status: "x", none: undefined },
      setOnce: { size: 9, first: 3 },
      add: { "12-_-1": 2, "12-_-0": 1, members: new Set(["b"]), empty: new Set<string>() },
      remove: ["map.gone", "absent"],
      if: condition("#size = :one AND attribute_exists(#map.#12)", { one: 1 }),
    });
    const expected = {
      ...key,
      map: { "12": 1, "13": 2 },
      status: "x",
      size: 1,
      first: 3,
      "12-_-1": 3,
      "12-_-0": 1,
      members: new Set(["a", "b"]),
    };
    expect(after).toEqual(expected);
    expect(await table.get(key)).toEqual(expected);
  });

  test("a write waits until a transaction on its row is over", async () => {
    const key = newKey();
    fault = {
      target: "UpdateItem",
      times: 3,
      error: Object.assign(new Error("conflict"), { name: "TransactionConflictException" }),
    };
    expect((await table.update(key, { add: { n: 1 } })).n).toBe(1);
  });
});

describe("a transaction", () => {
  test("that fails its conditions names those rows and writes nothing", async () => {
    const [one, two, three] = [newKey(), newKey(), newKey()];
    await table.put({ ...two, n: 1 });
    const refused = table.transact([
      { put: { ...one, n: 1 } },
      { update: two, add: { n: 1 }, if: condition("#n > :n", { n: 5 }) },
      { check: three, if: exists },
    ]);
    await expect(refused).rejects.toMatchObject({
      name: "TransactionRefused",
      failed: [
        { index: 1, item: { ...two, n: 1 } },
        { index: 2, item: undefined },
      ],
    });
    expect(await table.getMany([one, two])).toEqual([undefined, { ...two, n: 1 }]);
  });

  test("is tried again after conflicts and throttling", async () => {
    const key = newKey();
    fault = { target: "TransactWriteItems", times: 6, error: cancelled("TransactionConflict", "None") };
    await table.transact([
      { update: key, add: { n: 1 } },
      { check: newKey(), if: absent },
    ]);
    fault = { target: "TransactWriteItems", times: 2, error: cancelled("ThrottlingError") };
    await table.transact([{ update: key, add: { n: 1 } }]);
    expect(await table.get(key)).toEqual({ ...key, n: 2 });
  });

  test("outside of functions is refused as busy after 6 s of conflicts", async () => {
    seen.length = 0;
    requestMilliseconds = 500;
    vi.useFakeTimers({ toFake: ["Date"] });
    fault = { target: "TransactWriteItems", times: 99, error: cancelled("TransactionConflict") };
    const sent = table.transact([{ put: newKey() }]);
    await expect(sent).rejects.toMatchObject({ refusal: "busy", headers: { "Retry-After": "2" } });
    expect(seen.length).toBe(13);
    expect(new Set(seen.map((each) => each.ClientRequestToken)).size).toBe(1);
  });

  test("is tried again on conflicts while its worker has time", async () => {
    fault = { target: "TransactWriteItems", times: 999, error: cancelled("TransactionConflict") };
    const begin = performance.now();
    // Of four seconds a worker keeps a quarter, in which also a process that stood still can answer.
    const sent = withTimeOf(4_000, () => table.transact([{ put: newKey() }]));
    await expect(sent).rejects.toMatchObject({ refusal: "busy" });
    expect(performance.now() - begin).toBeGreaterThan(2_400);
    expect(performance.now() - begin).toBeLessThan(4_000);
  });

  test("is tried ever more rarely on a table that throttles", async () => {
    seen.length = 0;
    fault = { target: "TransactWriteItems", times: 99, error: cancelled("ThrottlingError", "None") };
    const sent = withTimeOf(4_500, () => table.transact([{ put: newKey() }, { put: newKey() }]));
    await expect(sent).rejects.toMatchObject({ refusal: "busy" });
    // After conflicts there would be more than twenty.
    expect(seen.length).toBeLessThanOrEqual(12);
  });

  test("without a connection is busy to people, an error to operators", async () => {
    fault = { target: "GetItem", times: 999, cut: true };
    const sent = withTimeOfPeople(4.5, () => table.get(newKey()));
    await expect(sent).rejects.toMatchObject({ refusal: "busy", headers: { "Retry-After": "2" } });
    await expect(table.get(newKey())).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  test("whose connection was lost for a moment is sent again", async () => {
    for (const within of [(send: Send) => withTimeOfPeople(10, send), (send: Send) => send()]) {
      fault = { target: "GetItem", times: 4, cut: true };
      await within(async () => expect(await table.get(newKey())).toBeUndefined());
    }
  });

  test("is refused at once when a condition failed beside a conflict", async () => {
    fault = {
      target: "TransactWriteItems",
      times: 1,
      error: cancelled("ConditionalCheckFailed", "TransactionConflict"),
    };
    const refused = table.transact([{ put: newKey(), if: absent }, { put: newKey() }]);
    await expect(refused).rejects.toMatchObject({ failed: [{ index: 0 }] });
  });

  test("that committed but whose reply got lost succeeds, once", async () => {
    const [one, two] = [newKey(), newKey()];
    seen.length = 0;
    fault = { target: "TransactWriteItems", times: 2, cut: true };
    const writes: Write[] = [
      { put: { ...one, n: 1 }, if: absent },
      { update: two, add: { n: 1 } },
    ];
    await withTimeOfPeople(10, () => table.transact(writes));
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(await table.getMany([one, two])).toEqual([
      { ...one, n: 1 },
      { ...two, n: 1 },
    ]);
  });

  test("that DynamoDB could not take throws before anything is sent", async () => {
    seen.length = 0;
    const key = newKey();
    const twice = table.transact([{ put: key }, { update: key, add: { n: 1 } }]);
    await expect(twice).rejects.toThrow(/two writes on/);
    const writes = Array.from({ length: 101 }, () => ({ put: newKey() }));
    await expect(table.transact(writes)).rejects.toThrow(/101 writes/);
    await expect(table.transact([{ update: key }])).rejects.toThrow(/changes nothing/);
    await table.transact([]);
    expect(seen.length).toBe(0);
    await table.transact(writes.slice(0, 100));
  });

  test("throws the refusal of the first failed write that names one", async () => {
    const taken = newKey();
    await table.put(taken);
    const refused = table.transact([
      { put: newKey(), if: absent, refusal: "domainNotFound" },
      { put: taken, if: absent },
      { check: newKey(), if: exists, refusal: "findingNotFound" },
    ]);
    await expect(refused).rejects.toMatchObject({ refusal: "findingNotFound" });
  });
});
