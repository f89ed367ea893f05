import { beforeAll, describe, expect, test } from "vitest";
import { countStatuses, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let user: SignedIn;
beforeAll(async () => {
  user = await signedIn((await createOrganization()).id);
});
const create = (name: unknown) => user.dashboard.post("/teams", { name });

describe("201", () => {
  test("gives the team as it is listed", async () => {
    const reply = await create(" Security ");
    expect(reply).toMatchObject({
      status: 201,
      body: { id: expect.any(Number), name: "Security", emailCount: 0 },
    });
    expect((await user.dashboard.get("/teams")).body.teams).toEqual([reply.body]);
    expect(await activity(user.v1, "team.created")).toMatchObject([
      { category: "teams", summary: "Created the team Security", actor: { label: user.email } },
    ]);
  });
});

describe("400", () => {
  test.each([undefined, "", " ", 1, null, "x".repeat(101), "a\u0007"])(
    "refuses the name %j",
    async (name) => {
      expectRefusal(await create(name), 400, /^name: /);
    },
  );
});

describe("409", () => {
  test("refuses a name that a team has, also when many come at once", async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => create("Sales")));
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 9 });
    expectRefusal(await create("SALES"), 409, /already has a team/, { code: "team_exists" });
  });
});
