import { createHmac } from "node:crypto";
import { expect, inject } from "vitest";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { admin } from "./admin.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import type { Organization } from "./organization.ts";
import type { Received } from "./receiver.ts";

/** A valid url of a webhook whose host is an IP literal, so that no name has to be resolved. */
export const publicUrl = "https://192.0.32.8/hooks/T0KEN";

/** Adds an address that appears in three of the built-in breaches; gives the id of the e-mail. */
export const addBreachedEmail = async (
  { api, domainId }: Organization,
  fields: { ownerName?: string; teamId?: number } = {},
): Promise<number> => {
  const added = await api.post("/emails", { email: "ada@demo.example", domainId, ...fields });
  expect(added).toMatchObject({ status: 201 });
  return added.body.id as number;
};

export type Channel = Record<string, unknown> & { id: number; config: Record<string, unknown> };

/** Creates an alert channel by the API and gives its id. */
export const createChannel = async (api: Client, body: Record<string, unknown>): Promise<number> => {
  const created = await api.post("/alert-configs", body);
  expect(created).toMatchObject({ status: 201 });
  return created.body.id as number;
};

export const listChannels = async (api: Client): Promise<Channel[]> => await api.list("/alert-configs");

/** A channel as the API lists it. */
export const findChannel = async (api: Client, id: number): Promise<Channel | undefined> =>
  (await listChannels(api)).find((channel) => channel.id === id);

/** The url of an inbox of the receiver (receiver.ts) that only this organization uses. */
export const inboxOf = ({ id }: Organization, name: string): string =>
  `${inject("receiverUrl")}/${name}-${id}`;

/**
 * The X-Service-Signature of a body: the lower-case hexadecimal HMAC-SHA256 of its exact bytes, keyed with
 * the secret. Written without the product's code.
 */
export const signatureOf = (body: Buffer, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** Asserts that a request is signed with the secret; undefined: that it has no signature header. */
export const expectSignedWith = ({ body, headers }: Received, secret: string | undefined): void => {
  expect(headers["x-service-signature"]).toBe(secret === undefined ? undefined : signatureOf(body, secret));
};

export type ListedDelivery = {
  id: number;
  type: string;
  status: string;
  attempts: number;
  failedAttempts: number;
  failureReason: string | null;
};

/** Waits until all deliveries of an organization have arrived. */
export const untilDelivered = (org: number): Promise<unknown> =>
  eventually(
    async () => {
      const rows = await deliveries.tally(org);
      return (await Promise.all(rows.map(({ block }) => deliveries.members(org, block)))).flat();
    },
    (all) => all.every(({ status }) => status === "delivered"),
  );

/** A channel's deliveries as the dashboard shows them, newest first. */
export const listDeliveries = async ({ id }: Organization, channel: number): Promise<ListedDelivery[]> =>
  (await admin("delivery list", { org: id, channel })).deliveries as ListedDelivery[];
