import { beforeEach, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { addBreachedEmail } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { activity } from "./activity.ts";
import { createSession, createToken, type SignedIn, signedIn, visitor } from "./signed-in.ts";

let org: number;
let user: SignedIn;
beforeEach(async () => {
  org = (await createOrganization()).id;
  user = await signedIn(org);
});
const remove = (id: number) => user.dashboard.delete(`/members/${id}`);

describe("200", () => {
  test("ends all sessions and links of the member on the very next request", async () => {
    const other = await signedIn(org);
    const second = await createSession(org, { id: other.userId, email: other.email });
    const token = await createToken(org, other.userId);
    expect((await second.v1.get("/emails")).status).toBe(200);
    expect(await remove(other.userId)).toMatchObject({ status: 200, body: { success: true } });
    for (const session of [other, second]) {
      expect((await session.dashboard.get("/session")).status).toBe(401);
      expect((await session.v1.get("/emails")).status).toBe(401);
    }
    expect((await visitor().post("/sign-in/sessions", { token })).status).toBe(401);
    expect((await remove(other.userId)).body).toEqual({ success: true });
    expect(await activity(user.v1, "member.removed")).toMatchObject([
      { category: "teams", summary: expect.stringContaining(other.email) },
    ]);
  });

  test("findings that the member acknowledged and the log no longer name the member", async () => {
    const organization = await createOrganization();
    const admin = await signedIn(organization.id);
    const other = await signedIn(organization.id);
    await addBreachedEmail(organization);
    await scan(other.v1);
    const read = async (path: "/breaches" | "/findings") => {
      const client = path === "/breaches" ? admin.v1 : admin.dashboard;
      const { breaches, findings } = (await client.get(path)).body;
      return (breaches ?? findings) as { id: number; acknowledgedBy: unknown }[];
    };
    const [finding] = await read("/breaches");
    const id = finding?.id as number;
    await other.v1.post("/breaches/acknowledge", { id });
    const ofOther = (label: string) => ({ id: other.userId, label });
    for (const path of ["/breaches", "/findings"] as const) {
      const acknowledged = (await read(path)).find((each) => each.id === id);
      expect(acknowledged?.acknowledgedBy).toEqual(ofOther(other.email));
    }
    await admin.dashboard.delete(`/members/${other.userId}`);
    for (const path of ["/breaches", "/findings"] as const) {
      const acknowledged = (await read(path)).find((each) => each.id === id);
      expect(acknowledged?.acknowledgedBy).toEqual(ofOther("Removed user"));
    }
    expect(await activity(admin.v1, "finding.acknowledged")).toMatchObject([
      { actor: { type: "removed", label: "Removed user" } },
    ]);
  });

  test("lets an admin leave when there is another", async () => {
    const other = await signedIn(org);
    expect((await remove(user.userId)).status).toBe(200);
    expect((await user.dashboard.get("/session")).status).toBe(401);
    expect((await other.dashboard.get("/members")).body).toMatchObject({ total: 1 });
  });
});

describe("404", () => {
  test("an unknown id", async () => expectRefusal(await remove(unknownId), 404, /No member/));
});

describe("409", () => {
  test("keeps the last admin, whoever of two is removed at the same time", async () => {
    await signedIn(org, { role: "member" });
    expectRefusal(await remove(user.userId), 409, /last admin/, { code: "last_admin" });
    const other = await signedIn(org);
    const replies = await Promise.all([
      remove(other.userId),
      other.dashboard.delete(`/members/${user.userId}`),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
