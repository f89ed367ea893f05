/** What an organization learns when somebody with a key or a session changes its channels. */
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { activity } from "../dashboard/activity.ts";
import { createChannel, inboxOf, listChannels, listDeliveries } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type Received, receivedAt } from "../service/receiver.ts";

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
  expect(await told(wants, 1)).toEqual([
    `The destination of the webhook alert channel ${id} was changed. The activity log says who did it.`,
  ]);
  for (const other of [silent, disabled, id]) expect(await listDeliveries(organization, other)).toEqual([]);

  // Neither sending back the stored values, nor a new secret, is a new destination.
  for (const patch of [{ config }, { config: { secret: "ANOTHER-SECRET-OF-IT" } }, { isEnabled: false }])
    expect((await api.patch(`/alert-configs/${id}`, patch)).status).toBe(200);
  const recipients = ["a@acme.example"];
  const moved = { channel: "email", config: { recipients } };
  expect((await api.patch(`/alert-configs/${id}`, moved)).status).toBe(200);
  expect(await told(wants, 2)).toHaveLength(2);
});

test.each<[how: string, turnOff: (api: Organization["api"], path: string) => Promise<{ status: number }>]>([
  ["deleted", (api, path) => api.delete(path)],
  ["turned off", (api, path) => api.patch(path, { isEnabled: false })],
  ["kept from alerts of new breaches", (api, path) => api.patch(path, { notifyOnNewBreach: false })],
])("when the last channel with alerts of new breaches is %s, the others are told", async (_, turnOff) => {
  const organization = await createOrganization();
  const { api } = organization;
  const inbox = inboxOf(organization, "errors");
  const listener = await createWebhook(organization, inbox, onlyErrors);
  const first = await createWebhook(organization, publicUrl, onlyBreaches);
  const last = await createWebhook(organization, publicUrl, onlyBreaches);
  expect((await turnOff(api, `/alert-configs/${first}`)).status).toBe(200);
  expect(await listDeliveries(organization, listener)).toEqual([]);
  expect((await turnOff(api, `/alert-configs/${last}`)).status).toBe(200);
  expect(await told(inbox, 1)).toEqual([
    `No channel gets alerts of new breaches any more: the webhook alert channel ${last} was the ` +
      "last one. The activity log says who did it.",
  ]);
});

test("of two channels that are deleted at the same instant one is the last", async () => {
  const organization = await createOrganization();
  const listener = await createWebhook(organization, inboxOf(organization, "errors"), onlyErrors);
  const pair = [
    await createWebhook(organization, publicUrl, onlyBreaches),
    await createWebhook(organization, publicUrl, onlyBreaches),
  ];
  // Called in this process, so that both read before the first one writes.
  await Promise.all(pair.map((id) => remove(organization.id, id, administrator)));
  expect(await listChannels(organization.api)).toMatchObject([{ id: listener }]);
  const notices = await eventually(
    () => listDeliveries(organization, listener),
    ({ length }) => length > 0,
  );
  expect(notices).toHaveLength(1);
});
