import { describe, expect, test } from "vitest";
import { timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Client } from "../service/client.ts";
import { records } from "../service/name-records.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { signedIn } from "./signed-in.ts";

type Domain = { id: number; record: { name: string; value: string } };

type Wanting = { org: number; dashboard: Client; v1: Client; added: Domain };

const want = async (name: string): Promise<Wanting> => {
  const { id: org } = await createOrganization();
  const { dashboard, v1 } = await signedIn(org);
  const { body } = await dashboard.post("/domains", { name });
  return { org, dashboard, v1, added: body as Domain };
};
const publish = (...wanting: Wanting[]) => {
  for (const { added } of wanting) {
    records.set(
      added.record.name,
      wanting.map((each) => each.added.record.value),
    );
  }
};
const check = ({ dashboard, added }: Wanting) => dashboard.post(`/domains/${added.id}/check`);
const read = async ({ dashboard, added }: Wanting) =>
  (await dashboard.list("/domains")).find(({ id }) => id === added.id);

// domain-proof.test.ts has names that are taken, and name servers that fail, proof-record.test.ts where else
// a record may stand.
describe("200", () => {
  test("verifies the domain once its record is there, once in the log", async () => {
    const wanting = await want("one.check.example");
    const before = await check(wanting);
    expect(before).toMatchObject({ status: 200, body: { isVerified: false, found: [] } });
    expect(await read(wanting)).toMatchObject({ isVerified: false, checkedAt: timestamp });
    records.set(wanting.added.record.name, ["v=spf1 -all", "x".repeat(600)]);
    expect((await check(wanting)).body).toEqual({
      isVerified: false,
      found: ["v=spf1 -all", "x".repeat(512)],
    });
    publish(wanting);
    for (const _ of [1, 2]) {
      expect((await check(wanting)).body).toEqual({ isVerified: true, found: [wanting.added.record.value] });
    }
    expect(await read(wanting)).toMatchObject({ isVerified: true, verifiedAt: timestamp });
    expect(await activity(wanting.v1, "domain.verified")).toMatchObject([
      { category: "monitoring", actor: { type: "user" } },
    ]);
    const email = { email: "ada@one.check.example", domainId: wanting.added.id };
    expect((await wanting.v1.post("/emails", email)).status).toBe(201);
  });

  test("finds nothing elsewhere when DNS fails for other names", async () => {
    const wanting = await want("elsewhere.fails.example");
    records.set("_breach-monitor.elsewhere.fails.example.elsewhere.fails.example", "failure");
    records.set("elsewhere.fails.example", "silence");
    expect((await check(wanting)).body).toEqual({ isVerified: false, found: [] });
  });
});

test("the command line verifies what another organization has proved only with --force", async () => {
  const [proved, wanting] = [await want("forced.check.example"), await want("forced.check.example")];
  expect(wanting.added.record.value).not.toBe(proved.added.record.value);
  publish(proved);
  await check(proved);
  const verify = { org: wanting.org, domain: wanting.added.id };
  await expect(admin("domain verify", verify)).rejects.toThrow(/--force/);
  expect(await read(wanting)).toMatchObject({ isVerified: false });
  const { id: org } = await admin("org create", { name: "Third", "scan-every": "never" });
  const add = { org, name: "forced.check.example", verified: true as const };
  await expect(admin("domain add", add)).rejects.toThrow(/--force/);
  await admin("domain verify", { ...verify, force: true });
  expect(await read(wanting)).toMatchObject({ isVerified: true });
  expect(await read(proved)).toMatchObject({ isVerified: true });
});
