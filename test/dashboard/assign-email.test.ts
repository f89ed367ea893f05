import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
let id: number;
let teamId: number;

const shown = async () => {
  const { body } = await organization.api.get("/emails");
  const { ownerName, team } = (body.emails as { id: number; ownerName: unknown; team: unknown }[])[0] ?? {};
  return { ownerName, team };
};
const assign = (body: unknown) => user.dashboard.patch(`/emails/${id}`, body);
const listed = async (query: string) => (await organization.api.get(`/emails?${query}`)).body.total;
const entries = async () =>
  (await organization.api.get("/activity")).body as {
    total: number;
    activity: { action: string; category: string; summary: string; actor: unknown }[];
  };

beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id, { role: "member" });
  id = await addEmail(organization.api, organization.domainId);
  teamId = (await admin("team create", { org: organization.id, name: "Team" })).id;
});

describe("200", () => {
  test("changes what is named, and the rest stays", async () => {
    expect((await assign({ teamId })).body).toEqual({ success: true });
    expect(await shown()).toEqual({ ownerName: null, team: { id: teamId, name: "Team" } });
    expect(await listed(`teamId=${teamId}`)).toBe(1);
    expect(await assign({ ownerName: "Ada" })).toMatchObject({ status: 200 });
    expect(await shown()).toEqual({ ownerName: "Ada", team: { id: teamId, name: "Team" } });
    expect(await assign({ teamId: null, ownerName: null })).toMatchObject({ status: 200 });
    expect(await shown()).toEqual({ ownerName: null, team: null });
    expect(await listed(`teamId=${teamId}`)).toBe(0);
  });

  test("logs a change with its user, and nothing when nothing changes", async () => {
    const before = await entries();
    await assign({ teamId, ownerName: "Grace" });
    await assign({ teamId, ownerName: "Grace" });
    const after = await entries();
    expect(after.total).toBe(before.total + 1);
    expect(after.activity[0]).toMatchObject({
      action: "email.updated",
      category: "monitoring",
      summary: expect.stringContaining("ada@demo.example"),
      actor: { type: "user", label: user.email },
    });
  });
});

describe("400", () => {
  test.each([{}, { teamId: "1" }, { teamId: 0 }, { ownerName: 1 }, { ownerName: "x".repeat(201) }])(
    "%j",
    async (body) => {
      expectRefusal(await assign(body), 400, /./);
    },
  );
});

describe("404", () => {
  test("an unknown e-mail, and an unknown team", async () => {
    const reply = await user.dashboard.patch(`/emails/${unknownId}`, { ownerName: "Ada" });
    expectRefusal(reply, 404, /monitored email/);
    expectRefusal(await assign({ teamId: unknownId }), 404, /No team/);
  });
});
