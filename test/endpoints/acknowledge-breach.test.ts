import { beforeAll, expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import type { Organization } from "../service/organization.ts";
import { createWithFindings, type Finding, findingCount, findingsOf } from "./acknowledgement.ts";
import { expectEveryHeader, expectRefusal, timestamp } from "./reply.ts";

/** The tests share it. */
let organization: Organization;
beforeAll(async () => {
  organization = await createWithFindings();
});

test("200: by a key, which defaults to handled; again by a user, which replaces it all", async () => {
  const { api, keyId } = organization;
  const user = await signedIn(organization.id);
  const [, chosen, other] = (await findingsOf(organization)) as [Finding, Finding, Finding];
  const shown = async () => (await findingsOf(organization))[1];
  const { id } = chosen;
  const reply = await api.post("/breaches/acknowledge", { id });
  expect(reply).toMatchObject({ status: 200, body: { success: true } });
  expectEveryHeader(reply);
  expect(await shown()).toEqual({
    ...chosen,
    acknowledged: true,
    acknowledgedAt: timestamp,
    acknowledgedBy: null,
    acknowledgedByApiKey: { id: keyId, label: "Test key" },
    acknowledgeReason: null,
    resolution: "handled",
  });
  const reason = "Password changed.\n\tSee ticket <b>7</b> 🎫".padEnd(1000, "x");
  await api.post("/breaches/acknowledge", { id, resolution: "ignored", reason });
  const once = await shown();
  expect(once).toMatchObject({ resolution: "ignored", acknowledgeReason: reason });
  await user.v1.post("/breaches/acknowledge", { id });
  const twice = await shown();
  expect(twice).toMatchObject({
    acknowledged: true,
    resolution: "handled",
    acknowledgeReason: null,
    acknowledgedBy: { id: user.userId, label: user.email },
    acknowledgedByApiKey: null,
  });
  expect((twice?.acknowledgedAt as string) > (once?.acknowledgedAt as string)).toBe(true);
  expect((await findingsOf(organization))[2]).toEqual(other);
  const unacknowledged = findingCount - 1;
  const open = (await api.get("/breaches?acknowledged=false")).body;
  expect(open).toMatchObject({ total: unacknowledged, unacknowledged });
  expect(await api.list("/emails")).toMatchObject([
    { breachCount: 4, unacknowledgedBreachCount: 3 },
    { breachCount: 3, unacknowledgedBreachCount: 3 },
  ]);
});

test("404: a finding whose e-mail is being removed, and one whose e-mail was", async () => {
  const { id: org, api } = organization;
  const [first, second] = await findingsOf(organization);
  const emailId = first?.emailId as number;
  // A removal with more findings than one transaction deletes removes the e-mail first, then the findings.
  await table.remove(emails.key(org, emailId));
  for (const finding of [first, second]) {
    expectRefusal(await api.post("/breaches/acknowledge", { id: finding?.id }), 404, /finding/);
  }
  expect((await api.get("/breaches")).status).toBe(200);
});
