import { expect, test } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as deletion from "../../shared/operations/deletion.ts";
import { scans } from "../../shared/scanning/record.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { useEngine } from "../aws/table/engine.ts";

useEngine();

const address = "ada@acme.example";

/** Parameters of keys that are more than one id after the other. */
const parameters: Partial<Record<keyof typeof keys, string[]>> = {
  address: [address],
  ownerWord: ["ada", "1"],
  listHead: ["EMAIL"],
  tally: ["EMAIL", "0"],
  member: ["ACTIVITY", "0", "1"],
};

/** A row of every kind that an organization has, all of the same e-mail, domain and scan. */
const rowsOf = (org: number): Key[] => {
  const ofEveryKind = Object.entries(keys).flatMap(([name, keyOf]) => {
    const given = parameters[name as keyof typeof keys] ?? ["1", "1", "1"];
    const key = (keyOf as (org: number, ...others: string[]) => Key)(org, ...given);
    // The organization's own row is there already.
    return name !== "organization" && `${key.pk}#`.startsWith(`ORG#${org}#`)
      ? { ...key, email: address }
      : [];
  });
  const email = {
    id: 1,
    email: address,
    ownerName: "Ada",
    group: emails.groupKeyOf({
      domainId: 1,
      teamId: null,
      isActive: true,
      exposure: 0,
      directoryId: null,
      hasLeft: false,
    }),
  };
  const scan = { group: scans.groupKeyOf({ type: "manual", status: "completed" }) };
  return [
    ...ofEveryKind,
    { ...keys.member(org, "EMAIL", 0, 1), ...email },
    { ...keys.member(org, "SCAN", 0, 1), ...scan },
    keys.tally(org, "SCAN", 0),
    keys.tally(org, "ACTIVITY", 0),
  ];
};

const storedOf = async (org: number): Promise<string[]> => {
  const stored: string[] = [];
  for await (const page of table.scanPages()) {
    const own = page.filter(({ pk }) => `${pk}#`.startsWith(`ORG#${org}#`));
    stored.push(...own.map(({ pk, sk }) => `${pk} ${sk}`));
  }
  return stored.sort();
};

test("the deletion of an organization deletes its rows of every kind, and no other's", async () => {
  const create = () => organizations.create({ name: "Acme", billing: activeBilling, scanEvery: "never" });
  const [{ id: org }, { id: other }] = [await create(), await create()];
  for (const id of [org, other]) for (const row of rowsOf(id)) await table.put(row);
  const before = await storedOf(other);
  expect(before.length).toBeGreaterThan(40);
  expect(await storedOf(org)).toHaveLength(before.length);
  await deletion.begin(org);
  // The first sweep notes the time.
  for (const _ of [1, 2]) await deletion.resume(keys.organization(org), 0, () => true);
  expect(await storedOf(org)).toEqual([]);
  expect(await storedOf(other)).toEqual(before);
});
