import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});

describe("200", () => {
  test("leaves its e-mails without a team; again succeeds and is not logged", async () => {
    const { api, domain, domainId } = organization;
    const { id: teamId } = (await user.dashboard.post("/teams", { name: "Sales" })).body;
    for (let index = 0; index < 3; index++) {
      await api.post("/emails", { email: `u${index}@${domain}`, domainId, teamId });
    }
    for (const _ of [1, 2]) {
      const reply = await user.dashboard.delete(`/teams/${teamId}`);
      expect(reply).toMatchObject({ status: 200, body: { success: true } });
    }
    expect((await user.dashboard.get("/teams")).body).toEqual({ teams: [], total: 0 });
    const { body } = await api.get("/emails");
    expect(body).toMatchObject({ total: 3, emails: [{ team: null }, { team: null }, { team: null }] });
    expect((await api.get(`/emails?teamId=${teamId}`)).body).toEqual({ emails: [], total: 0 });
    expect(await activity(user.v1, "team.deleted")).toMatchObject([
      { category: "teams", summary: "Deleted the team Sales", actor: { label: user.email } },
    ]);
    expectRefusal(await api.post("/emails", { email: `late@${domain}`, domainId, teamId }), 404, /No team/);
    expect((await user.dashboard.post("/teams", { name: "Sales" })).status).toBe(201);
  });
});

describe("404", () => {
  test("an unknown id", async () =>
    expectRefusal(await user.dashboard.delete(`/teams/${unknownId}`), 404, /No team/));
});
