import { describe, expect, test } from "vitest";
import { acknowledgeBreach } from "../../functions/acknowledge-breach/endpoint.ts";
import * as table from "../../shared/aws/table/table.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { createWithFindings, findingCount, findingsOf } from "./acknowledgement.ts";
import { expectInvalid } from "./invalid.ts";
import { expectEveryHeader, expectRefusal, timestamp } from "./reply.ts";

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
    const unacknowledged = findingCount - 1;
    expect((await api.get("/breaches?acknowledged=false")).body).toMatchObject({
      total: unacknowledged,
      unacknowledged,
    });
    expect((await api.get("/emails")).body.emails).toMatchObject([
      { breachCount: 4, unacknowledgedBreachCount: 3 },
      { breachCount: 3, unacknowledgedBreachCount: 3 },
    ]);
  });

  test("again by a user: replaces the whole acknowledgment, which still counts once", async () => {
    const organization = await createWithFindings();
    const { api } = organization;
    const user = await signedIn(organization.id);
    const [chosen] = await findingsOf(organization);
    const reason = "Password changed.\n\tSee ticket <b>7</b> 🎫".padEnd(1000, "x");
    await api.post("/breaches/acknowledge", { id: chosen?.id, resolution: "ignored", reason });
    const [once] = await findingsOf(organization);
    expect(once).toMatchObject({ resolution: "ignored", acknowledgeReason: reason });
    await user.v1.post("/breaches/acknowledge", { id: chosen?.id });
    const [twice] = await findingsOf(organization);
    expect(twice).toMatchObject({
      acknowledged: true,
      resolution: "handled",
      acknowledgeReason: null,
      acknowledgedBy: { id: user.userId, label: user.email },
      acknowledgedByApiKey: null,
    });
    expect((twice?.acknowledgedAt as string) > (once?.acknowledgedAt as string)).toBe(true);
    expect((await api.get("/breaches?acknowledged=true")).body.total).toBe(1);
    const counts = [{ unacknowledgedBreachCount: 3 }, { unacknowledgedBreachCount: 3 }];
    expect((await api.get("/emails")).body.emails).toMatchObject(counts);
  });
});

test.each([
  ["resolution", ["done", null, "Handled"]],
  ["reason", ["x".repeat(1001), 7, "bell \u0007", "one\rtwo", "\ud83d"]],
  ["id", [undefined, "1"]],
])("400: a %s that is not valid; the error names it", async (field, values) => {
  for (const value of values) {
    await expectInvalid(acknowledgeBreach, { body: { id: 1, [field]: value } }, RegExp(`^${field}`));
  }
});

test("404: a finding whose e-mail is being removed, and one whose e-mail was", async () => {
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
