/** What an organization learns when somebody with a key or a session changes its channels. */
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { activity } from "../dashboard/activity.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { createChannel, inboxOf, listChannels, listDeliveries } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type Received, receivedAt } from "../service/receiver.ts";
import { presetCount } from "./limit-window.ts";

const publicUrl = "https://192.0.32.8/hooks/T0KEN";
const onlyBreaches = { notifyOnNewBreach: true, notifyOnScanComplete: false, notifyOnScanError: false };
const onlyErrors = { notifyOnNewBreach: false, notifyOnScanComplete: false, notifyOnScanError: true };

const createWebhook = (
  { api }: Organization,
  url: string,
  flags: Record<string, boolean>,
  secret?: string,
): Promise<number> => createChannel(api, { channel: "webhook", config: { url, secret }, ...flags });

const changes = async ({ api }: Organization): Promise<string[]> =>
  (await activity(api, "alert_config.updated")).map(({ summary }) => summary);

/** The sentences that an inbox has received, once there are `count`. */
const told = async (inbox: string, count: number): Promise<string[]> => {
  const all: Received[] = await eventually(
    () => receivedAt(inbox),
    (received) => received.length >= count,
  );
  return all.map(({ body }) => JSON.parse(body.toString("utf8")).data.error);
};

test("the entry of a change names the channel and what changed, never a value", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const id = await createWebhook(organization, publicUrl, {});
  const expectEntry = async (patch: Record<string, unknown>, entry: string) => {
    expect((await api.patch(`/alert-configs/${id}`, patch)).status).toBe(200);
    expect((await changes(organization))[0]).toBe(entry);
  };
  const webhook = `Changed the webhook alert channel ${id}`;
  const email = `Changed the e-mail alert channel ${id}`;
  const url = "https://192.0.32.9/MOVED";
  await expectEntry({ config: { url } }, `${webhook}: destination changed`);
  await expectEntry({ config: { secret: "F1RST-SECRET-OF-IT" } }, `${webhook}: secret set`);
  await expectEntry({ config: { secret: "S3COND-SECRET-OF-IT" } }, `${webhook}: secret replaced`);
  await expectEntry({ config: { secret: "" } }, `${webhook}: secret removed`);
  await expectEntry({ isEnabled: false }, `${webhook}: channel turned off`);
  await expectEntry(
    { isEnabled: true, notifyOnNewBreach: false, notifyOnScanComplete: true, notifyOnScanError: false },
    `${webhook}: alerts of new breaches turned off, alerts of completed scans turned on, alerts ` +
      "of scan errors turned off, channel turned on",
  );
  const config = { recipients: ["mallory@evil.example"] };
  await expectEntry({ channel: "email", config }, `${email}: kind changed, destination changed`);
  expect((await api.delete(`/alert-configs/${id}`)).status).toBe(200);
  const entries = [
    ...(await activity(api, "alert_config.created")),
    ...(await activity(api, "alert_config.deleted")),
  ].map(({ summary }) => summary);
  expect(entries).toEqual([
    `Created the webhook alert channel ${id}`,
    `Deleted the e-mail alert channel ${id}`,
  ]);
  expect(JSON.stringify((await api.get("/activity?limit=100")).body)).not.toMatch(
    /192\.0|T0KEN|MOVED|SECRET-OF|evil/,
  );
});

test("a changed destination is told only to channels that want scan errors", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const [wants, wantsNot] = [inboxOf(organization, "wants"), inboxOf(organization, "wants-not")];
  await createWebhook(organization, wants, onlyErrors);
  const silent = await createWebhook(organization, wantsNot, onlyBreaches);
  const disabled = await createWebhook(organization, wantsNot, { ...onlyErrors, isEnabled: false });
  const id = await createWebhook(organization, publicUrl, {}, "SECRET-OF-THE-HOOK");
  const config = { url: "https://192.0.32.9/MOVED" };
  expect((await api.patch(`/alert-configs/${id}`, { config })).status).toBe(200);
  expect((await told(wants, 1)).at(-1)).toBe(
    `The destination of the webhook alert channel ${id} was changed. The activity log says who did it.`,
  );
  for (const other of [silent, disabled, id]) expect(await listDeliveries(organization, other)).toEqual([]);

  // Sending back the stored values moves nothing.
  expect((await api.patch(`/alert-configs/${id}`, { config })).status).toBe(200);
  const recipients = ["a@acme.example"];
  const moved = { channel: "email", config: { recipients } };
  expect((await api.patch(`/alert-configs/${id}`, moved)).status).toBe(200);
  expect(await told(wants, 2)).toHaveLength(2);
});

test("a new channel is told to the others that want scan errors, and not to itself", async () => {
  const organization = await createOrganization();
  const [wants, wantsNot] = [inboxOf(organization, "wants"), inboxOf(organization, "wants-not")];
  await createWebhook(organization, wants, onlyErrors);
  const silent = await createWebhook(organization, wantsNot, onlyBreaches);
  const disabled = await createWebhook(organization, wantsNot, { ...onlyErrors, isEnabled: false });
  const member = await signedIn(organization.id, { role: "member" });
  const config = { url: publicUrl };
  const id = await createChannel(member.v1, { channel: "webhook", config, ...onlyErrors });
  expect(await told(wants, 1)).toEqual([
    `Alerts also go to the webhook alert channel ${id}, which is new. The activity log says who did it.`,
  ]);
  for (const other of [silent, disabled, id]) expect(await listDeliveries(organization, other)).toEqual([]);
});

test("what an API key adds or turns off is told to e-mail channels, not to webhooks", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const recipients = [`channels-${organization.id}@acme.example`];
  // It has alerts of new breaches, so that no other one is the last with them.
  const email = await createChannel(api, { channel: "email", config: { recipients } });
  const webhook = await createWebhook(organization, inboxOf(organization, "errors"), onlyErrors);
  const id = await createWebhook(organization, publicUrl, onlyBreaches);
  expect((await api.patch(`/alert-configs/${id}`, { isEnabled: false })).status).toBe(200);
  await eventually(
    () => listDeliveries(organization, email),
    (deliveries) => deliveries.length === 3,
  );
  expect(await listDeliveries(organization, webhook)).toEqual([]);
});

test("that a channel tells less is told to the others, and not that it tells more", async () => {
  const organization = await createOrganization();
  const { v1: api } = await signedIn(organization.id, { role: "member" });
  const inbox = inboxOf(organization, "errors");
  const listener = await createWebhook(organization, inbox, onlyErrors);
  const keep = await createWebhook(organization, publicUrl, onlyBreaches);
  await createWebhook(organization, publicUrl, onlyBreaches);
  const path = `/alert-configs/${keep}`;
  const { body: options } = await api.get(`${path}/options`);
  const steps: [change: () => Promise<{ status: number }>, words: string | undefined][] = [
    [() => api.patch(path, { isEnabled: false }), "channel turned off"],
    [() => api.patch(path, { isEnabled: true, notifyOnScanComplete: true }), undefined],
    [() => api.patch(path, { notifyOnScanComplete: false }), "alerts of completed scans turned off"],
    [() => api.patch(path, { config: { secret: "F1RST-SECRET-OF-IT" } }), "secret set"],
    [() => api.patch(path, { config: { secret: "S3COND-SECRET-OF-IT" } }), "secret replaced"],
    [() => api.put(`${path}/options`, { ...options, minSeverity: "high" }), "least severity changed"],
    [() => api.put(`${path}/options`, { ...options, name: "Main" }), undefined],
    [
      () => api.put(`${path}/options`, { ...options, name: "Main", sensitive: "discreet" }),
      "words for sensitive breaches changed",
    ],
  ];
  for (const [change] of steps) expect((await change()).status).toBe(200);
  const expected = steps.flatMap(([, words]) => words ?? []);
  const sentences = await told(inbox, expected.length);
  const changed = new RegExp(
    `^The settings of the webhook alert channel ${keep}( "Main")? were changed: (.+)\\. ` +
      "The activity log says who did it\\.$",
  );
  expect(sentences.flatMap((sentence) => changed.exec(sentence)?.[2] ?? []).sort()).toEqual(
    expected.toSorted(),
  );
  expect(sentences).toHaveLength(expected.length);
  expect(await listDeliveries(organization, listener)).toHaveLength(expected.length);
  expect(await listDeliveries(organization, keep)).toEqual([]);
});

test("beyond a hundred in a day a channel is still silenced, without more notices", async () => {
  const organization = await createOrganization();
  const { id: org } = organization;
  const { v1: api } = await signedIn(org, { role: "member" });
  const inbox = inboxOf(organization, "errors");
  await createWebhook(organization, inbox, onlyErrors);
  await createWebhook(organization, publicUrl, onlyBreaches);
  const id = await createWebhook(organization, publicUrl, onlyBreaches);
  await presetCount(`CHANNELS-QUIETED#${org}#other`, 99, 86_400);
  for (const isEnabled of [false, true, false])
    expect((await api.patch(`/alert-configs/${id}`, { isEnabled })).status).toBe(200);
  expect((await api.delete(`/alert-configs/${id}`)).status).toBe(200);
  const last =
    `Nothing goes to the webhook alert channel ${id} any more: it was deleted. ` +
    "The activity log says who did it.";
  const sentences = await told(inbox, 2);
  expect(sentences).toContain(last);
  expect(sentences).toHaveLength(2);
});

test.each<
  [
    how: string,
    turnOff: (api: Organization["api"], path: string) => Promise<{ status: number }>,
    sentence: (webhook: string) => string,
  ]
>([
  [
    "deleted",
    (api, path) => api.delete(path),
    (webhook) => `Nothing goes to ${webhook} any more: it was deleted.`,
  ],
  [
    "turned off",
    (api, path) => api.patch(path, { isEnabled: false }),
    (webhook) => `The settings of ${webhook} were changed: channel turned off.`,
  ],
  [
    "kept from alerts of new breaches",
    (api, path) => api.patch(path, { notifyOnNewBreach: false }),
    (webhook) => `The settings of ${webhook} were changed: alerts of new breaches turned off.`,
  ],
])("when the last channel with alerts of new breaches is %s, that is told too", async (_, turnOff, of) => {
  const organization = await createOrganization();
  const { v1: api } = await signedIn(organization.id, { role: "member" });
  const inbox = inboxOf(organization, "errors");
  await createWebhook(organization, inbox, onlyErrors);
  const first = await createWebhook(organization, publicUrl, onlyBreaches);
  const last = await createWebhook(organization, publicUrl, onlyBreaches);
  for (const id of [first, last]) expect((await turnOff(api, `/alert-configs/${id}`)).status).toBe(200);
  const who = "The activity log says who did it.";
  const nameOf = (id: number) => `the webhook alert channel ${id}`;
  expect((await told(inbox, 2)).sort()).toEqual(
    [
      `${of(nameOf(first))} ${who}`,
      `${of(nameOf(last))} No channel gets alerts of new breaches any more: ${nameOf(last)} was the last one. ${who}`,
    ].sort(),
  );
});

test("of two channels that are deleted at the same instant one is the last", async () => {
  const organization = await createOrganization();
  const inbox = inboxOf(organization, "errors");
  const listener = await createWebhook(organization, inbox, onlyErrors);
  const pair = [
    await createWebhook(organization, publicUrl, onlyBreaches),
    await createWebhook(organization, publicUrl, onlyBreaches),
  ];
  // Called in this process, so that both read before the first one writes.
  await Promise.all(pair.map((id) => remove(organization.id, id, administrator)));
  expect(await listChannels(organization.api)).toMatchObject([{ id: listener }]);
  // Both deletions are told.
  const sentences = await told(inbox, 2);
  expect(sentences.filter((sentence) => /was the last one/.test(sentence))).toHaveLength(1);
  expect(sentences).toHaveLength(2);
});
