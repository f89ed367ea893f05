import { beforeEach, describe, expect, test } from "vitest";
import { expectRefusal } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeEach(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});
const change = (body: unknown) => user.dashboard.patch("/organization", body);
const show = async () => (await user.dashboard.get("/organization")).body;

describe("200", () => {
  test("changes the name and how often is scanned, in the log once", async () => {
    const input = { name: "Größe & Söhne", scanEvery: "week" };
    expect(await change(input)).toMatchObject({ status: 200, body: { success: true } });
    expect(await show()).toMatchObject({ ...input, nextScanAt: expect.any(String) });
    const { nextScanAt } = await show();
    expect((await change(input)).body).toEqual({ success: true });
    expect((await show()).nextScanAt).toBe(nextScanAt);
    expect(await activity(user.v1, "organization.updated")).toMatchObject([
      { category: "monitoring", actor: { type: "user", label: user.email } },
    ]);
  });
});

describe("400", () => {
  test.each([
    [{}, /at least one field/],
    [{ other: 1 }, /at least one field/],
    [{ name: "" }, /name: /],
    [{ name: "x".repeat(101) }, /name: /],
    [{ name: "a\u0000" }, /name: /],
    [{ name: null }, /name: /],
    [{ scanEvery: "hour" }, /scanEvery: must be day, week, or never/],
  ])("refuses %j", async (body, error) => {
    expectRefusal(await change(body), 400, error);
  });
});
