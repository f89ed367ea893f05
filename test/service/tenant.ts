import { expect, inject } from "vitest";
import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import { ended } from "../endpoints/acknowledgement.ts";
import { unknownId } from "../endpoints/reply.ts";
import { admin } from "./admin.ts";
import { addBreachedEmail, createChannel, listDeliveries } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { scan } from "./scan.ts";

export type Tenant = Organization & {
  user: SignedIn;
  ids: Record<
    | "email"
    | "finding"
    | "scan"
    | "team"
    | "channel"
    | "delivery"
    | "acknowledgement"
    | "key"
    | "domain"
    | "directory",
    number
  >;
};

/** An organization that has one of everything. */
export const createTenant = async (): Promise<Tenant> => {
  const organization = await createOrganization();
  const { id: org, api, domainId, keyId } = organization;
  const user = await signedIn(org);
  const { id: team } = await admin("team create", { org, name: "Finance" });
  const email = await addBreachedEmail(organization, { teamId: team });
  const { id: scanId } = await scan(api);
  const [finding] = await api.list("/breaches");
  const asked = await api.post("/breaches/acknowledgements", { filter: { breachId: unknownId } });
  // Only one request may be in progress.
  await ended(api, asked);
  const channel = await createChannel(api, {
    channel: "webhook",
    config: { url: `${inject("receiverUrl")}/tenant-${org}`, secret: "a secret of this organization" },
  });
  const tested = await user.dashboard.post(`/alert-configs/${channel}/test`);
  await eventually(
    () => listDeliveries(organization, channel),
    ([delivery]) => delivery?.status === "delivered",
  );
  const directory = await user.dashboard.post("/directories", { name: "Entra" });
  const ids = {
    email,
    finding: finding?.id,
    scan: scanId,
    team,
    channel,
    delivery: tested.body.deliveryId,
    acknowledgement: asked.body.id,
    key: keyId,
    domain: domainId,
    directory: directory.body.id,
  };
  for (const [name, id] of Object.entries(ids)) expect([name, id]).toEqual([name, expect.any(Number)]);
  return { ...organization, user, ids: ids as Tenant["ids"] };
};

/** All that an organization can see of itself, but for the times of last uses. */
export const stateOf = async ({ api, user: { dashboard }, ids }: Tenant): Promise<unknown> => {
  const replies = await Promise.all([
    ...["/emails", "/breaches", "/alert-configs", "/activity", "/scans"].map(api.get),
    ...["/organization", "/domains", "/teams", "/members", "/api-keys", "/sessions"].map(dashboard.get),
    ...["/directories", "/rules"].map(dashboard.get),
    dashboard.get(`/alert-configs/${ids.channel}/deliveries`),
  ]);
  const withoutUse = (name: string, value: unknown) =>
    /^(lastUsedAt|lastSignInAt|visibleSince|nextScanAt)$/.test(name) ? undefined : value;
  return replies.map(({ status, body }) => {
    expect(status).toBe(200);
    return JSON.parse(JSON.stringify(body, withoutUse));
  });
};
