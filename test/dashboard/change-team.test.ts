import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let user: SignedIn;
let id: number;
beforeAll(async () => {
  user = await signedIn((await createOrganization()).id);
  id = (await user.dashboard.post("/teams", { name: "One" })).body.id as number;
});
const change = (team: number, body: unknown) => user.dashboard.patch(`/teams/${team}`, body);

describe("200", () => {
  test("renames the team; the same name again is not logged", async () => {
    for (const _ of [1, 2]) {
      expect(await change(id, { name: "Uno" })).toMatchObject({ status: 200, body: { success: true } });
    }
    expect((await user.dashboard.get("/teams")).body).toMatchObject({ teams: [{ id, name: "Uno" }] });
    expect(await activity(user.v1, "team.updated")).toMatchObject([
      { category: "teams", summary: "Renamed the team One to Uno" },
    ]);
  });
});

describe("400", () => {
  test.each([{}, { name: "" }, { name: null }])("refuses %j", async (body) => {
    expectRefusal(await change(id, body), 400, /name|at least one field/);
  });
});

describe("404", () => {
  test("an unknown id", async () => expectRefusal(await change(unknownId, { name: "Mine" }), 404, /No team/));
});

describe("409", () => {
  test("refuses a name that another team has, and frees the one that was left", async () => {
    const two = (await user.dashboard.post("/teams", { name: "Two" })).body.id as number;
    expectRefusal(await change(two, { name: "uno" }), 409, /already has a team/, { code: "team_exists" });
    await change(two, { name: "Three" });
    expect((await user.dashboard.post("/teams", { name: "Two" })).status).toBe(201);
  });
});
