import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { scan } from "../service/scan.ts";
import { scanned } from "./unwatched.ts";

test("201: watches them as an import does, and the next scan makes their findings", async () => {
  const { id: org, list, idOf, post, api, logged } = await scanned();
  const ids = [await idOf("ada"), await idOf("alan")];
  expect(await post("watch", { ids: [...ids, ...ids] })).toMatchObject({
    status: 201,
    body: { addedCount: 2, disabledCount: 0 },
  });
  expect(await list()).toMatchObject({ total: 10, unwatched: 10 });
  expect(await logged()).toContain("emails.imported: Imported 2 addresses");
  expect((await scan(api)).newBreachesFound).toBe(4);
  expect((await list()).total).toBe(10);
  expect(await admin("check", { org })).toMatchObject({ differences: [] });
  // Again, as a client does that got no reply.
  expect((await post("watch", { ids })).body).toEqual({ addedCount: 0, disabledCount: 0 });
});

test("201: goes as far as there are seats, and adds the others disabled", async () => {
  const { list, post, api } = await scanned({ "seat-allowance": "3" });
  const ids = (await list()).addresses.map(({ id }) => id);
  expect((await post("watch", { ids })).body).toEqual({ addedCount: 12, disabledCount: 10 });
  expect((await api.get("/emails?isActive=true")).body.total).toBe(3);
  expect((await list()).total).toBe(0);
  await scan(api);
  expect(await list()).toMatchObject({ total: 0, unwatched: 0 });
});

test("201: leaves out what is watched meanwhile, whoever is faster", async () => {
  const { id: org, idOf, post, api, domainId, list } = await scanned();
  const ids = [await idOf("ada"), await idOf("alan"), await idOf("grace")];
  await addEmail(api, domainId, "ada@demo.example");
  const replies = await Promise.all([post("watch", { ids }), post("watch", { ids: ids.toReversed() })]);
  expect(replies.map(({ status }) => status)).toEqual([201, 201]);
  expect(replies.reduce((sum, { body }) => sum + Number(body.addedCount), 0)).toBe(2);
  expect((await list()).total).toBe(9);
  expect((await api.get("/emails")).body.total).toBe(4);
  expect(await admin("check", { org })).toMatchObject({ differences: [] });
});

test("200: a dry run says what it costs, as often as one likes, and does nothing", async () => {
  const { idOf, post, api, list } = await scanned();
  const ids = [await idOf("ada"), await idOf("alan")];
  for (let time = 0; time < 25; time++) {
    const { status, body } = await post("watch", { ids, dryRun: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ quote: { newSeatsCount: 3, newActiveCount: 3 } });
  }
  expect((await api.get("/emails")).body.total).toBe(1);
  expect((await list()).total).toBe(12);
});

describe("400", () => {
  let unwatched: Awaited<ReturnType<typeof scanned>>;
  beforeAll(async () => {
    unwatched = await scanned();
  });
  test.each([
    {},
    { ids: [] },
    { ids: ["1"] },
    { ids: [0] },
    { ids: [1], dryRun: "yes" },
    { ids: Array.from({ length: 501 }, (_, at) => at + 1) },
  ])("%j", async (body) => expectRefusal(await unwatched.post("watch", body), 400, /./));

  test("addresses of a domain that is not verified any more, and nothing is done", async () => {
    const { id: org, domainId, list, post, api } = unwatched;
    const ids = (await list()).addresses.map(({ id }) => id);
    await admin("domain unverify", { org, domain: domainId });
    for (const dryRun of [true, false])
      expectRefusal(await post("watch", { ids, dryRun }), 400, /not verified/);
    expect((await api.get("/emails")).body.total).toBe(1);
  });
});

test("404: one id that is unknown or of another organization, and nothing is done", async () => {
  const { idOf, post, api, list } = await scanned();
  const other = await scanned();
  const ids = [await idOf("ada")];
  for (const id of [unknownId, await other.idOf("ada"), (ids[0] as number) + 1]) {
    expectRefusal(await post("watch", { ids: [...ids, id] }), 404, /unwatched address/);
    expectRefusal(await post("watch", { ids: [...ids, id], dryRun: true }), 404, /unwatched address/);
  }
  expect((await api.get("/emails")).body.total).toBe(1);
  expect((await list()).total).toBe(12);
});

test("429: as many an hour as imports", async () => {
  const { idOf, post } = await scanned();
  const ids = [await idOf("ada")];
  for (let time = 0; time < 20; time++) expect((await post("watch", { ids })).status).toBe(201);
  expectRefusal(await post("watch", { ids }), 429, /./);
});
