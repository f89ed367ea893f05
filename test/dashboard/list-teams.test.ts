import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});

describe("200", () => {
  test("lists teams newest first with how many e-mails each has, to members too", async () => {
    const { api, domain, domainId, id: org } = organization;
    const ids: number[] = [];
    for (const name of ["One", "Two", "Three"]) {
      ids.push((await user.dashboard.post("/teams", { name })).body.id as number);
    }
    const [one, two, three] = ids;
    for (const [index, teamId] of [one, one, two].entries()) {
      const added = await api.post("/emails", { email: `u${index}@${domain}`, domainId, teamId });
      if (index === 0) await api.patch(`/emails/${added.body.id}`, { isActive: false });
    }
    await api.post("/emails", { email: `nobody@${domain}`, domainId });
    const { dashboard } = await signedIn(org, { role: "member" });
    const reply = await dashboard.get("/teams");
    expectEveryHeader(reply);
    expect(reply.body).toEqual({
      teams: [
        { id: three, name: "Three", emailCount: 0 },
        { id: two, name: "Two", emailCount: 1 },
        { id: one, name: "One", emailCount: 2 },
      ],
      total: 3,
    });
    expect((await dashboard.get("/teams?limit=1&offset=1")).body).toEqual({
      teams: [{ id: two, name: "Two", emailCount: 1 }],
      total: 3,
    });
  });

  test("lists none of another organization", async () => {
    const other = await signedIn((await createOrganization()).id);
    expect((await other.dashboard.get("/teams")).body).toEqual({ teams: [], total: 0 });
  });
});
