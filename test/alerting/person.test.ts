import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { type AlertEvent, deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { readPerson } from "../../shared/alerting/senders/person.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as removal from "../../shared/findings/email-removal.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import {
  createOrganization,
  runChecks,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "../scanning/in-process-workers.ts";
import { createChannel, webhook } from "./channels.ts";

useWorkers({ breached: { "acme.example": { 0: ["Adobe", "LinkedIn"] } } });

type Case = {
  org: number;
  emailId: number;
  teamId: number | null;
  event: Extract<AlertEvent, { type: "breach" }>;
};

/** Scans an e-mail that is in two breaches, and gives the event of its alert. */
const findBreaches = async (options: { inTeam?: boolean } = {}): Promise<Case> => {
  const org = await createOrganization({ "acme.example": 1 });
  const [email] = (await emailList.list(org, { limit: 1, offset: 0 })).emails;
  if (email === undefined) throw new Error("There is no e-mail");
  const team = options.inTeam ? await teams.create(org, "Engines", administrator) : undefined;
  const teamId = team?.id ?? null;
  if (teamId !== null) await moveTo(org, email.id, teamId);
  await table.update(emails.key(org, email.id), { set: { ownerName: "Ada" } });
  await createChannel(org, {}, webhook);
  await startAndPlan(org);
  await runChecks();
  const [message] = (await takeMessages("deliveries")).filter(({ organizationId }) => organizationId === org);
  const delivery = await deliveries.get(org, message?.deliveryId ?? 0);
  if (delivery?.event.type !== "breach") throw new Error("There is no delivery");
  return { org, emailId: email.id, teamId, event: delivery.event };
};

const moveTo = async (org: number, emailId: number, teamId: number | null): Promise<void> => {
  const row = await emails.get(org, emailId);
  if (row === undefined) throw new Error("There is no e-mail");
  const from = emails.groupOf(row);
  await table.transact(emails.writes(org, [emails.change(org, emailId, { from, to: { ...from, teamId } })]));
};

const read = ({ org, event }: Case) => readPerson(org, event, { forPeople: true });

test("a delivery keeps ids of the e-mail and its findings, and no address", async () => {
  const { org, emailId, event } = await findBreaches({ inTeam: true });
  const { breaches } = await findings.list(org, { limit: 10, offset: 0 });
  expect(event.email).toMatchObject({ id: emailId });
  const pairs = event.breachIds.map((id, index) => [id, event.email.findingIds[index]]);
  expect(new Map(pairs as [number, number][])).toEqual(
    new Map(breaches.map(({ id, breach }) => [breach.id, id])),
  );
  expect(pairs).toHaveLength(2);
  expect(JSON.stringify(event)).not.toMatch(/@|Ada|Engines/);
});

test("whose address it is is read for people only", async () => {
  const found = await findBreaches({ inTeam: true });
  const person = await read(found);
  expect(person.email).toEqual({
    id: found.emailId,
    address: "user0@acme.example",
    ownerName: "Ada",
    teamName: "Engines",
  });
  const forWebhook = await readPerson(found.org, found.event, { forPeople: false });
  expect(forWebhook.email).toBeUndefined();
  expect(forWebhook.breaches).toEqual(person.breaches);
  expect(person.breaches).toHaveLength(2);
});

test("the worst breach is the first, by what HIBP says of it now", async () => {
  const found = await findBreaches();
  for (const worst of found.event.breachIds) {
    for (const id of found.event.breachIds)
      await table.update(keys.breach(id), { set: { severity: id === worst ? "high" : "low" } });
    expect((await read(found)).breaches.map(({ id }) => id)[0]).toBe(worst);
  }
});

test("owner and team are those of the moment, also after the e-mail has moved", async () => {
  const found = await findBreaches({ inTeam: true });
  const { org, emailId } = found;
  const other = await teams.create(org, "Looms", administrator);
  await moveTo(org, emailId, other.id);
  await table.update(emails.key(org, emailId), { set: { ownerName: "Hedy" } });
  expect((await read(found)).email).toMatchObject({ ownerName: "Hedy", teamName: "Looms" });
  await moveTo(org, emailId, null);
  expect((await read(found)).email).toMatchObject({ ownerName: "Hedy", teamName: null });

  const withoutTeam = await findBreaches();
  expect((await read(withoutTeam)).email?.teamName).toBeNull();
  const joined = await teams.create(withoutTeam.org, "Joined", administrator);
  await moveTo(withoutTeam.org, withoutTeam.emailId, joined.id);
  expect((await read(withoutTeam)).email?.teamName).toBe("Joined");
});

test("a team that is gone is not named", async () => {
  const found = await findBreaches({ inTeam: true });
  await table.remove(keys.team(found.org, found.teamId ?? 0));
  expect((await read(found)).email?.teamName).toBeNull();
});

test("an e-mail that was removed is not named, even if its address is monitored again", async () => {
  const found = await findBreaches({ inTeam: true });
  const { org, emailId } = found;
  const [listed] = (await emailList.list(org, { limit: 1, offset: 0 })).emails;
  if (listed === undefined) throw new Error("There is no e-mail");
  const { email, domain } = listed;
  await removal.remove(org, emailId, administrator);
  await monitored.add(org, { email, domainId: domain.id, ownerName: "Another" }, administrator);
  const person = await read(found);
  expect(person.email).toBeUndefined();
  expect(person.breaches).toHaveLength(2);
});
