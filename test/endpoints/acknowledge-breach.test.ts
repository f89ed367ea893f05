import { beforeAll, describe, expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { countStatuses, expectEveryHeader, expectRefusal, timestamp, unknownId } from "./reply.ts";
import { signIn } from "./sign-in.ts";

type Finding = Record<string, unknown> & { id: number };

const findingsOf = async ({ api }: Organization) => (await api.get("/breaches")).body.breaches as Finding[];

/** Creates an organization with one e-mail and its three findings. */
const createWithFindings = async (): Promise<Organization> => {
  const organization = await createOrganization();
  const { api, domainId } = organization;
  await api.post("/emails", { email: "ada@demo.example", domainId });
  await scan(api);
  return organization;
};

describe("200", () => {
  test("by a key: defaults to handled without a reason, and lowers the counts by one", async () => {
    const organization = await createWithFindings();
    const { api, keyId } = organization;
    const [, chosen, other] = await findingsOf(organization);
    const reply = await api.post("/breaches/acknowledge", { id: chosen?.id });
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expectEveryHeader(reply);
    const after = await findingsOf(organization);
    expect(after[1]).toEqual({
      ...chosen,
      acknowledged: true,
      acknowledgedAt: timestamp,
      acknowledgedBy: null,
      acknowledgedByApiKey: { id: keyId, label: "Test key" },
      acknowledgeReason: null,
      resolution: "handled",
    });
    expect(after[2]).toEqual(other);
    expect((await api.get("/breaches?acknowledged=false")).body).toMatchObject({
      total: 2,
      unacknowledged: 2,
    });
    expect((await api.get("/emails")).body.emails).toMatchObject([
      { breachCount: 3, unacknowledgedBreachCount: 2 },
    ]);
  });

  test("again by a user: replaces the whole acknowledgment, which still counts once", async () => {
    const organization = await createWithFindings();
    const { api } = organization;
    const user = await signIn(organization);
    const [chosen] = await findingsOf(organization);
    const reason = "Password changed.\n\tSee ticket <b>7</b> 🎫";
    await api.post("/breaches/acknowledge", { id: chosen?.id, resolution: "ignored", reason });
    const [once] = await findingsOf(organization);
    expect(once).toMatchObject({ resolution: "ignored", acknowledgeReason: reason });
    await user.api.post("/breaches/acknowledge", { id: chosen?.id });
    const [twice] = await findingsOf(organization);
    expect(twice).toMatchObject({
      acknowledged: true,
      resolution: "handled",
      acknowledgeReason: null,
      acknowledgedBy: { id: user.userId, label: user.email },
      acknowledgedByApiKey: null,
    });
    expect((twice?.acknowledgedAt as string) > (once?.acknowledgedAt as string)).toBe(true);
    expect((await api.get("/breaches?acknowledged=true")).body).toMatchObject({
      total: 1,
      unacknowledged: 2,
    });
    expect((await api.get("/emails")).body.emails).toMatchObject([{ unacknowledgedBreachCount: 2 }]);
  });

  test("at the same instant: all requests succeed, and each finding counts once", async () => {
    const organization = await createWithFindings();
    const { api } = organization;
    const findings = await findingsOf(organization);
    const replies = await Promise.all(
      [...findings, ...findings].map(({ id }) => api.post("/breaches/acknowledge", { id })),
    );
    expect(countStatuses(replies)).toEqual({ 200: 6 });
    expect((await api.get("/breaches?acknowledged=true")).body).toMatchObject({
      total: 3,
      unacknowledged: 0,
    });
    expect((await api.get("/emails")).body.emails).toMatchObject([{ unacknowledgedBreachCount: 0 }]);
  });
});

describe("400", () => {
  let organization: Organization;
  let id: unknown;

  beforeAll(async () => {
    organization = await createWithFindings();
    [{ id } = { id: 0 }] = await findingsOf(organization);
  });

  test.each<[why: string, input: Record<string, unknown>, field: RegExp]>([
    ["a resolution other than the two", { resolution: "done" }, /^resolution/],
    ["a resolution that is null", { resolution: null }, /^resolution/],
    ["a resolution in other case", { resolution: "Handled" }, /^resolution/],
    ["a reason of 1001 characters", { reason: "x".repeat(1001) }, /^reason/],
    ["a reason that is no string", { reason: 7 }, /^reason/],
    ["a reason with a control character", { reason: "bell \u0007" }, /^reason/],
    ["a reason with a carriage return that ends no line", { reason: "one\rtwo" }, /^reason/],
    ["a reason with a lone surrogate", { reason: "\ud83d" }, /^reason/],
    ["no id", { id: undefined }, /^id/],
    ["an id as a string", { id: "1" }, /^id/],
  ])("%s; the finding stays unacknowledged", async (_, input, field) => {
    const { api } = organization;
    expectRefusal(await api.post("/breaches/acknowledge", { id, ...input }), 400, field);
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(0);
  });

  test("a reason of exactly 1000 characters is not too long", async () => {
    const reason = "x".repeat(1000);
    expect((await organization.api.post("/breaches/acknowledge", { id, reason })).status).toBe(200);
    expect((await findingsOf(organization))[0]).toMatchObject({ acknowledgeReason: reason });
  });
});

describe("404", () => {
  test("an unknown id", async () => {
    const { api } = await createOrganization();
    expectRefusal(await api.post("/breaches/acknowledge", { id: unknownId }), 404, /finding/);
  });

  test("a finding whose e-mail is being removed, and one whose e-mail was", async () => {
    const organization = await createWithFindings();
    const { id: org, api } = organization;
    const [first, second] = await findingsOf(organization);
    const emailId = first?.emailId as number;
    await api.post("/breaches/acknowledge", { id: second?.id });
    // A removal with more findings than one transaction deletes removes the e-mail first, then the findings.
    await table.remove(emails.key(org, emailId));
    for (const finding of [first, second]) {
      expectRefusal(await api.post("/breaches/acknowledge", { id: finding?.id }), 404, /finding/);
    }
    expect((await api.get("/breaches")).status).toBe(200);
  });
});
