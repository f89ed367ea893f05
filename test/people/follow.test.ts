/** What follows from a directory: people are watched, disabled, enabled and renamed as it says. */
import { expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { type Connected, connected } from "./connected.ts";

const listed = async ({ dashboard }: Connected, query = "") => dashboard.list(`/emails${query}`);

const addressOf = async (of: Connected, email: string) =>
  (await listed(of)).find((each) => each.email === email);

const until = (of: Connected, email: string, isSo: (row: Record<string, unknown> | undefined) => boolean) =>
  eventually(() => addressOf(of, email), isSo);

test("a joiner is watched, a leaver disabled, and enabled again who comes back", async () => {
  const of = await connected();
  const email = `ada@${of.domain}`;
  const created = await of.scim.post("/Users", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: email,
    displayName: "Ada Lovelace",
    active: true,
  });
  expect(created.status).toBe(201);
  const id = created.body.id as string;
  await until(of, email, (row) => row?.isActive === true);
  expect(await addressOf(of, email)).toMatchObject({ ownerName: "Ada Lovelace", hasLeft: false });

  const leave = { Operations: [{ op: "Replace", path: "active", value: "False" }] };
  expect((await of.scim.patch(`/Users/${id}`, leave)).status).toBe(200);
  await until(of, email, (row) => row?.isActive === false);
  expect(await addressOf(of, email)).toMatchObject({ hasLeft: true });
  expect(await listed(of, "?left=true&source=directory")).toHaveLength(1);

  await of.scim.patch(`/Users/${id}`, { Operations: [{ op: "replace", value: { active: true } }] });
  await until(of, email, (row) => row?.isActive === true);

  expect((await of.scim.delete(`/Users/${id}`)).status).toBe(204);
  await until(of, email, (row) => row?.isActive === false);
  expect(await addressOf(of, email)).toMatchObject({ hasLeft: true });
  const activity = await of.v1.list("/activity");
  const synced = activity.filter(({ action }) => action === "directory.synced");
  expect(synced.length).toBeGreaterThan(0);
});

test("erasing an address forgets its person, whatever the directory calls them", async () => {
  const of = await connected();
  const email = `erased@${of.domain}`;
  const other = `work.address@elsewhere.example`;
  const user = { userName: "EMP-1", externalId: email, emails: [{ value: email }, { value: other }] };
  const { body } = await of.scim.post("/Users", { ...user, displayName: "Somebody" });
  await until(of, email, (row) => row?.isActive === true);
  await admin("erase", { email });
  expect(await addressOf(of, email)).toBeUndefined();
  expect((await of.scim.get(`/Users/${body.id}`)).status).toBe(404);
  for (const filter of [`externalId eq "${email}"`, `emails.value eq "${other}"`, 'userName eq "EMP-1"'])
    expect((await of.scim.get(`/Users?filter=${encodeURIComponent(filter)}`)).body.totalResults).toBe(0);
  const { traces } = await admin("erase", { email, "dry-run": true });
  expect(traces).toEqual([]);
});
