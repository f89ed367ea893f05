import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let org: number;
let member: SignedIn;
beforeAll(async () => {
  org = (await createOrganization()).id;
  member = await signedIn(org, { role: "member", email: "member@list.example" });
});

describe("200", () => {
  test("lists the members newest first, without those who were removed", async () => {
    const { id } = await admin("user create", { org, email: "ada@list.example", name: "Ada" });
    const gone = await admin("user create", { org, email: "gone@list.example" });
    await admin("user remove", { org, user: gone.id });
    const reply = await member.dashboard.get("/members");
    expectEveryHeader(reply);
    expect(reply.body).toEqual({
      members: [
        {
          id,
          email: "ada@list.example",
          name: "Ada",
          role: "admin",
          createdAt: timestamp,
          invitedAt: null,
          joinedAt: null,
          lastSignInAt: null,
        },
        {
          id: member.userId,
          email: "member@list.example",
          name: null,
          role: "member",
          createdAt: timestamp,
          invitedAt: null,
          joinedAt: timestamp,
          lastSignInAt: timestamp,
        },
      ],
      total: 2,
    });
    expect((await member.dashboard.get("/members?limit=1&offset=1")).body).toMatchObject({
      members: [{ id: member.userId }],
      total: 2,
    });
  });
});
