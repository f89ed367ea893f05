import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { deliveries, type PersonEvent } from "../../shared/alerting/deliveries/delivery.ts";
import { readPerson } from "../../shared/alerting/messages/person.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as removal from "../../shared/findings/email-removal.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import * as monitored from "../../shared/monitoring/emails/email.ts";
import { type Email, emails } from "../../shared/monitoring/emails/record.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { describeBreach, findingsOf, rowsOf, useBreachedPeople } from "./breached-people.ts";
import { createChannel, webhook } from "./channels.ts";

const { scan, organizationOf } = useBreachedPeople();

/** Scans an e-mail of Ada and a team, which is in two breaches, and gives the event of its alert. */
const findBreaches = async () => {
  const org = await organizationOf(1, { first: true });
  const [email] = (await rowsOf(org, emails)) as [Email];
  const team = await teams.create(org, "Engines", administrator);
  const change = (to: Parameters<typeof assign>[2]) => assign(org, email.id, to, administrator);
  await change({ teamId: team.id, ownerName: "Ada" });
  await createChannel(org, {}, webhook);
  await scan(org, { 0: ["Adobe", "LinkedIn"] });
  const [delivery] = await rowsOf(org, deliveries);
  if (delivery?.event.type !== "breach") throw new Error("There is no delivery");
  const event: PersonEvent = delivery.event;
  const read = () => readPerson(org, event);
  return { org, email, event, change, read };
};

test("a delivery keeps ids of the e-mail and its findings, and no address", async () => {
  const { org, email, event } = await findBreaches();
  expect(event.email).toMatchObject({ id: email.id });
  const pairs = event.breachIds.map((id, index) => [id, event.email.findingIds[index]]);
  const found = await findingsOf(org);
  expect(pairs.toSorted()).toEqual(found.map(({ id, breachId }) => [breachId, id]).toSorted());
  expect(pairs).toHaveLength(2);
  expect(JSON.stringify(event)).not.toMatch(/@|Ada|Engines/);
});

test("a person's report says whose address it is", async () => {
  const { email, read } = await findBreaches();
  const person = await read();
  expect(person.email).toEqual({
    id: email.id,
    address: "user0@acme.example",
    ownerName: "Ada",
    teamName: "Engines",
  });
  expect(person.breaches).toHaveLength(2);
});

test("the worst breach is the first, by what HIBP says of it now", async () => {
  const { read } = await findBreaches();
  for (const worst of ["Adobe", "LinkedIn"]) {
    for (const name of ["Adobe", "LinkedIn"])
      await describeBreach(name, { severity: name === worst ? "high" : "low" });
    expect((await read()).breaches[0]?.name).toBe(worst);
  }
});

test("owner and team are those of the moment, and a team that is gone is not named", async () => {
  const { org, change, read } = await findBreaches();
  const other = await teams.create(org, "Looms", administrator);
  await change({ teamId: other.id, ownerName: "Hedy" });
  expect((await read()).email).toMatchObject({ ownerName: "Hedy", teamName: "Looms" });
  await table.remove(keys.team(org, other.id));
  expect((await read()).email).toMatchObject({ ownerName: "Hedy", teamName: null });
});

test("an e-mail that was removed is not named, even if its address is monitored again", async () => {
  const { org, email, read } = await findBreaches();
  const { domainId } = emails.groupOf(email);
  await removal.remove(org, email.id, administrator);
  await monitored.add(org, { email: email.email, domainId, ownerName: "Another" }, administrator);
  const person = await read();
  expect(person.email).toBeUndefined();
  expect(person.breaches).toHaveLength(2);
});
