import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { scan } from "../service/scan.ts";
import { scanned } from "./unwatched.ts";

describe("200", () => {
  test("ignored addresses stay so, and nothing but the address is kept of them", async () => {
    const { id: org, list, post, api, idOf, logged, user } = await scanned();
    const ids = [await idOf("ada"), await idOf("grace")];
    for (let time = 0; time < 2; time++) {
      expect(await post("ignore", { ids: [...ids, ...ids], ignored: true })).toMatchObject({
        status: 200,
        body: { success: true },
      });
      expect(await list()).toMatchObject({ total: 12, unwatched: 10 });
      await scan(api);
    }
    const { addresses, total } = await list("ignored=true");
    expect(total).toBe(2);
    expect(addresses.find(({ email }) => email === "ada@demo.example")).toMatchObject({
      id: ids[0],
      severity: null,
      breachCount: 0,
      breaches: [],
      firstSeenAt: null,
      ignored: true,
    });
    expect((await user.dashboard.get("/overview")).body.unwatched).toBe(10);
    expect((await logged()).filter((each) => each.startsWith("unwatched"))).toEqual([
      "unwatched.ignored: Ignored 2 unwatched addresses",
    ]);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("with ignored: false they are back, and the next scan says what is known of them", async () => {
    const { id: org, list, post, api, idOf, logged } = await scanned();
    const ids = [await idOf("ada")];
    await post("ignore", { ids, ignored: true });
    await post("ignore", { ids, ignored: false });
    expect(await list("ignored=false")).toMatchObject({ total: 12, unwatched: 12 });
    await scan(api);
    const { addresses } = await list("ignored=false");
    expect(addresses.find(({ id }) => id === ids[0])).toMatchObject({ breachCount: 3, ignored: false });
    expect(await logged()).toContain("unwatched.restored: Stopped ignoring 1 unwatched address");
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("addresses that were watched meanwhile are skipped", async () => {
    const { list, post, idOf } = await scanned();
    const ids = [await idOf("ada"), await idOf("alan")];
    await post("watch", { ids: ids.slice(0, 1) });
    expect((await post("ignore", { ids, ignored: true })).status).toBe(200);
    expect(await list("ignored=true")).toMatchObject({ total: 1, unwatched: 10 });
  });
});

describe("400", () => {
  let unwatched: Awaited<ReturnType<typeof scanned>>;
  beforeAll(async () => {
    unwatched = await scanned();
  });
  test.each([
    {},
    { ids: [1] },
    { ids: [], ignored: true },
    { ids: [1], ignored: "true" },
    { ids: Array.from({ length: 501 }, (_, at) => at + 1), ignored: true },
  ])("%j", async (body) => expectRefusal(await unwatched.post("ignore", body), 400, /./));
});

test("404: one id that is unknown or of another organization, and nothing is done", async () => {
  const { idOf, post, list } = await scanned();
  const other = await scanned();
  const ids = [await idOf("ada")];
  for (const id of [unknownId, await other.idOf("ada")])
    expectRefusal(await post("ignore", { ids: [...ids, id], ignored: true }), 404, /unwatched address/);
  expect((await list("ignored=true")).total).toBe(0);
});

test("429: sixty requests an hour", async () => {
  const { idOf, post } = await scanned();
  const ids = [await idOf("ada")];
  for (let time = 0; time < 60; time++)
    expect((await post("ignore", { ids, ignored: true })).status).toBe(200);
  expectRefusal(await post("ignore", { ids, ignored: true }), 429, /./);
});
