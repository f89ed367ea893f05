import { expect, test } from "vitest";
import { expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";
import { activity } from "./activity.ts";
import { signedIn } from "./signed-in.ts";

const create = async () => {
  const organization = await createOrganization();
  const { dashboard, v1, email } = await signedIn(organization.id);
  const add = (name: string) => dashboard.post("/teams", { name });
  const list = async (query = "") => (await dashboard.get(`/teams${query}`)).body;
  return { ...organization, dashboard, v1, user: email, add, list };
};

test("POST 201 gives the team as it is listed; 409 for a name that a team has", async () => {
  const { add, list, v1, user } = await create();
  const reply = await add(" Security ");
  const body = { id: expect.any(Number), name: "Security", emailCount: 0, breachedEmailCount: 0 };
  expect(reply).toMatchObject({ status: 201, body });
  expect((await list()).teams).toEqual([reply.body]);
  expectRefusal(await add("SECURITY"), 409, /already has a team/, { code: "team_exists" });
  expect(await activity(v1, "team.created")).toMatchObject([
    { category: "teams", summary: "Created the team Security", actor: { label: user } },
  ]);
});

test("GET lists teams newest first with how many e-mails each has, to members too", async () => {
  const { id: org, api, domain, domainId, add } = await create();
  const ids: number[] = [];
  for (const name of ["One", "Two", "Three"]) ids.push((await add(name)).body.id as number);
  const [one, two, three] = ids;
  for (const [index, teamId] of [one, one, two].entries()) {
    const added = await api.post("/emails", { email: `u${index}@${domain}`, domainId, teamId });
    if (index === 0) await api.patch(`/emails/${added.body.id}`, { isActive: false });
  }
  await api.post("/emails", { email: `nobody@${domain}`, domainId });
  const { dashboard } = await signedIn(org, { role: "member" });
  const reply = await dashboard.get("/teams");
  expect(reply.body).toEqual({
    teams: [
      { id: three, name: "Three", emailCount: 0, breachedEmailCount: 0 },
      { id: two, name: "Two", emailCount: 1, breachedEmailCount: 0 },
      { id: one, name: "One", emailCount: 2, breachedEmailCount: 0 },
    ],
    total: 3,
  });
  expect((await dashboard.get("/teams?limit=1&offset=1")).body).toEqual({
    teams: [{ id: two, name: "Two", emailCount: 1, breachedEmailCount: 0 }],
    total: 3,
  });
});

test("GET says how many of a team's e-mails have an open finding", async () => {
  const { id: org, api, emailIds } = await createScanned(["ada", "grace", "nobody"]);
  const { dashboard } = await signedIn(org);
  const { id } = (await dashboard.post("/teams", { name: "One" })).body;
  const breached = async () => (await dashboard.list("/teams"))[0]?.breachedEmailCount;
  await dashboard.post("/emails/changes", { ids: emailIds, set: { teamId: id } });
  expect((await dashboard.get("/teams")).body.teams).toEqual([
    { id, name: "One", emailCount: 3, breachedEmailCount: 2 },
  ]);
  const ofAda = await api.list("/breaches");
  for (const finding of ofAda.filter(({ emailId }) => emailId === emailIds[0]))
    await api.post("/breaches/acknowledge", { id: finding.id });
  expect(await breached()).toBe(1);
  await api.delete(`/emails?id=${emailIds[1]}`);
  expect(await breached()).toBe(0);
});

// test/monitoring/teams/teams.test.ts has names that are taken, and what becomes of the e-mails.
test("PATCH renames a team, DELETE deletes it; again succeeds and is not logged", async () => {
  const { dashboard, v1, user, add, list } = await create();
  const { id } = (await add("One")).body;
  const success = { status: 200, body: { success: true } };
  for (const _ of [1, 2])
    expect(await dashboard.patch(`/teams/${id}`, { name: "Uno" })).toMatchObject(success);
  expect(await list()).toMatchObject({ teams: [{ id, name: "Uno" }] });
  for (const _ of [1, 2]) expect(await dashboard.delete(`/teams/${id}`)).toMatchObject(success);
  expect(await list()).toMatchObject({ teams: [] });
  expect(await activity(v1, "team.updated")).toMatchObject([
    { category: "teams", summary: "Renamed the team One to Uno" },
  ]);
  expect(await activity(v1, "team.deleted")).toMatchObject([
    { category: "teams", summary: "Deleted the team Uno", actor: { label: user } },
  ]);
});
