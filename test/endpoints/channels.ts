import { createHmac } from "node:crypto";
import { expect, inject } from "vitest";
import { admin, type Client, eventually, type Organization, scan } from "../service/client.ts";
import { type Received, receivedAt } from "../service/receiver.ts";

/** Where a webhook can go without DNS: an IP literal. */
export const publicUrl = "https://192.0.32.8/hooks/T0KEN";

export const onlyScanComplete = {
  notifyOnNewBreach: false,
  notifyOnScanComplete: true,
  notifyOnScanError: false,
};

export type Channel = Record<string, unknown> & { id: number; config: Record<string, unknown> };

/** Creates an alert channel and gives its id. */
export const createChannel = async (api: Client, body: Record<string, unknown>): Promise<number> => {
  const created = await api.post("/alert-configs", body);
  expect(created).toMatchObject({ status: 201 });
  return created.body.id as number;
};

export const listChannels = async (api: Client): Promise<Channel[]> =>
  (await api.get("/alert-configs")).body.configs as Channel[];

/** A channel as the list shows it. */
export const findChannel = async (api: Client, id: number): Promise<Channel | undefined> =>
  (await listChannels(api)).find((channel) => channel.id === id);

/** An address of the receiver that nobody else uses. */
export const inboxOf = ({ id }: Organization, name: string): string =>
  `${inject("receiverUrl")}/${name}-${id}`;

/** Scans, and waits until an inbox holds so many requests; the last of them. */
export const scanAndReceive = async (api: Client, inbox: string, count: number): Promise<Received> => {
  await scan(api);
  const all = await eventually(
    () => receivedAt(inbox),
    (received) => received.length >= count,
  );
  expect(all).toHaveLength(count);
  return all.at(-1) as Received;
};

/** Written from interface.md "Signature" alone; undefined: there must be no header. */
export const expectSignedWith = ({ body, headers }: Received, secret: string | undefined): void => {
  const expected = secret === undefined ? undefined : createHmac("sha256", secret).update(body).digest("hex");
  expect(headers["x-service-signature"]).toBe(expected);
};

export type ListedDelivery = { id: number; type: string; status: string; attempts: number };

/** What the dashboard shows of a channel's deliveries. */
export const listDeliveries = async ({ id }: Organization, channel: number): Promise<ListedDelivery[]> =>
  (await admin("delivery list", { org: id, channel })).deliveries as ListedDelivery[];
