/**
 * Whoever has a stolen session or a leaked key first uses up the budget of e-mails. What they do then is told
 * all the same.
 */
import { beforeEach, expect, test } from "vitest";
import { mailsTo } from "../dashboard/outbox.ts";
import { addPasskey } from "../dashboard/passkeys.ts";
import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import { presetCount } from "../endpoints/limit-window.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "./admin.ts";
import { createChannel, listChannels, listDeliveries } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization, type Organization } from "./organization.ts";

let organization: Organization;
let [ada, grace, member]: SignedIn[] = [];
let channel: number;

const textOf = (mail: string): string => mail.replaceAll(/=\r?\n/g, "").replaceAll(/\s+/g, " ");

/** Waits until somebody has a mail that says this. */
const untilTold = (email: string | undefined, words: RegExp): Promise<string[]> =>
  eventually(
    async () => (await mailsTo(email ?? "")).filter((mail) => words.test(textOf(mail))),
    ({ length }) => length > 0,
  );

beforeEach(async () => {
  organization = await createOrganization({ name: "Acme" });
  const { id: org, api } = organization;
  ada = await signedIn(org);
  grace = await signedIn(org);
  member = await signedIn(org, { role: "member" });
  await admin("org mail-budget", { org, hour: 2, day: 2 });
  const recipients = ["one@strangers.example", "two@strangers.example"];
  channel = await createChannel(api, { channel: "email", config: { recipients } });
  const test = () => member?.dashboard.post(`/alert-configs/${channel}/test`);
  for (const _ of [1, 2]) expect(await test()).toMatchObject({ status: 202 });
  await eventually(
    async () => (await listDeliveries(organization, channel)).map(({ status }) => status).sort(),
    (statuses) => statuses.join() === "delivered,pending",
  );
});

test("a leaked key that first turns notices off sends no alerts elsewhere unseen", async () => {
  const { api } = organization;
  for (const { id } of await listChannels(api))
    expect((await api.patch(`/alert-configs/${id}`, { notifyOnScanError: false })).status).toBe(200);
  const config = { recipients: ["eve@evil.example"] };
  expect((await api.patch(`/alert-configs/${channel}`, { config })).status).toBe(200);
  for (const each of [ada, grace]) {
    await untilTold(
      each?.email,
      /The destination of the e-mail alert channel \d+ was changed. This was done by the API key .Test key./,
    );
  }
  const added = await createChannel(api, { channel: "email", config });
  await untilTold(
    ada?.email,
    new RegExp(`Alerts also go to the e-mail alert channel ${added}, which is new`),
  );
});

test("a stolen session cannot add a passkey unseen", async () => {
  await addPasskey((member as SignedIn).dashboard);
  await untilTold(member?.email, /A passkey was added to your account at Acme/);
});

test("an admin's session makes no key or admin unseen, nor by removing other admins", async () => {
  const { dashboard, email } = ada as SignedIn;
  const { email: other, userId } = grace as SignedIn;
  expect(await dashboard.post("/api-keys", { label: "Backup" })).toMatchObject({ status: 201 });
  expect((await dashboard.delete(`/members/${userId}`)).status).toBe(200);
  for (const each of [email, other]) {
    await untilTold(each, /created the API key .Backup. of Acme/);
    await untilTold(each, new RegExp(`${other} is no longer an admin of Acme`));
  }
  expect((await dashboard.patch(`/members/${member?.userId}`, { role: "admin" })).status).toBe(200);
  await untilTold(email, new RegExp(`${email} made ${member?.email} an admin of Acme`));
  const invited = { email: `eve-${organization.id}@evil.example`, role: "admin" };
  expect(await dashboard.post("/members", invited)).toMatchObject({ status: 201 });
  await untilTold(email, new RegExp(`made ${invited.email} an admin of Acme`));
});

test("what is told is limited at its cause, so that mails do not flood the admins", async () => {
  const { api, id: org } = organization;
  await presetCount(`CHANNELS#${org}`, 98, 86_400);
  const config = { recipients: ["a@acme.example"] };
  const move = () => api.patch(`/alert-configs/${channel}`, { config });
  expect((await move()).status).toBe(200);
  config.recipients = ["b@acme.example"];
  const refused = await move();
  expectRefusal(refused, 429, /today/);
  expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(86_400);
  expectRefusal(await api.post("/alert-configs", { channel: "email", config }), 429, /today/);
  // What moves nothing is not counted.
  expect((await api.patch(`/alert-configs/${channel}`, { isEnabled: false })).status).toBe(200);
});
