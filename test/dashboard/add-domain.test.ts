import { beforeAll, describe, expect, test } from "vitest";
import { countStatuses, expectEveryHeader, expectRefusal } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});
const add = (name: unknown) => user.dashboard.post("/domains", { name });

describe("201", () => {
  test("gives the domain as it is listed, not verified yet", async () => {
    const reply = await add(" New.Add.Example ");
    expectEveryHeader(reply);
    expect(reply).toMatchObject({ status: 201, body: { name: "new.add.example", isVerified: false } });
    const { domains } = (await user.dashboard.get("/domains")).body as { domains: unknown[] };
    expect(domains[0]).toEqual(reply.body);
    expect(await activity(user.v1, "domain.added")).toMatchObject([
      { category: "monitoring", summary: "Added the domain new.add.example", actor: { label: user.email } },
    ]);
    const email = { email: "ada@new.add.example", domainId: reply.body.id };
    expectRefusal(await organization.api.post("/emails", email), 400, /not verified/);
  });

  test("gives two organizations of one name a record each", async () => {
    const other = await signedIn((await createOrganization()).id);
    const [one, two] = await Promise.all(
      [user, other].map(({ dashboard }) => dashboard.post("/domains", { name: "both.add.example" })),
    );
    expect([one?.status, two?.status]).toEqual([201, 201]);
    expect(one?.body.record).not.toEqual(two?.body.record);
  });
});

describe("an internationalized name", () => {
  test("may be written in either form, is kept in ASCII, and is one name", async () => {
    const reply = await add("Add.MÜNCHEN.example");
    expect(reply).toMatchObject({ status: 201, body: { name: "add.xn--mnchen-3ya.example" } });
    expect(reply.body.record).toMatchObject({ name: "_breach-monitor.add.xn--mnchen-3ya.example" });
    for (const name of ["add.mu\u0308nchen.example", "ADD.XN--MNCHEN-3YA.example"]) {
      expectRefusal(await add(name), 409, /already has a domain/, { code: "domain_exists" });
    }
  });
});

describe("400", () => {
  test.each([
    ["公司.cn", /^name: xn--55qx5d\.cn is a public suffix/],
    ["ｇｍａｉｌ.com", /^name: must be a domain name/],
    ["gmail.com\u200b", /^name: must be a domain name/],
    ["co.uk", /^name: co\.uk is a public suffix/],
    ["GitHub.io", /^name: github\.io is a public suffix/],
    ["gmail.com", /^name: gmail\.com is a provider of mailboxes/],
    ["yahoo.co.uk", /^name: yahoo\.co\.uk is a provider of mailboxes/],
    ["example", /^name: must be a domain name/],
    ["a b.example", /^name: /],
    ["-a.example", /^name: /],
    [`${"a".repeat(64)}.example`, /^name: /],
    ["", /^name: /],
    [undefined, /^name: is required/],
    [7, /^name: /],
  ])("refuses %j", async (name, error) => {
    expectRefusal(await add(name), 400, error);
  });
});

describe("409", () => {
  test("refuses a name that the organization has, also when many come at once", async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => add("twice.add.example")));
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 7 });
    expectRefusal(await add(organization.domain), 409, /already has a domain/, { code: "domain_exists" });
  });
});
