/**
 * Requests that are sent at the same time in order to get more than is allowed. The audit finds nothing wrong
 * afterwards.
 */
import { expect, inject, test } from "vitest";
import { audit } from "../../shared/operations/audit/audit.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { expectUnauthenticated } from "../endpoints/credentials.ts";
import { createChannel, publicUrl } from "./alert-channels.ts";
import { createClient, type Reply } from "./client.ts";
import { createKeyClient, createOrganization, type Organization } from "./organization.ts";

const count = (replies: readonly Reply[], status: number): number =>
  replies.filter((reply) => reply.status === status).length;

/** Asserts that none of these requests failed in the service. */
const expectNoFailure = (replies: readonly Reply[]): void =>
  expect(replies.filter(({ status }) => status >= 500)).toEqual([]);

const expectNoDifference = async ({ id }: Organization): Promise<void> =>
  expect(await audit(id)).toMatchObject({ differences: [], unsettled: [] });

test("a seat that is freed and taken at once is taken by one at most", async () => {
  const organization = await createOrganization({ "seat-allowance": "1" });
  const { api, domainId } = organization;
  const ids: number[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const { status, body } = await api.post("/emails", { email: `${name}@demo.example`, domainId });
    expect(status).toBe(201);
    ids.push(body.id as number);
    await api.patch(`/emails/${body.id}`, { isActive: false });
  }
  const [first, ...others] = ids;
  expect((await api.patch(`/emails/${first}`, { isActive: true })).status).toBe(200);
  const replies = await Promise.all([
    api.patch(`/emails/${first}`, { isActive: false }),
    ...others.flatMap((id) => [1, 2, 3].map(() => api.patch(`/emails/${id}`, { isActive: true }))),
    ...["x", "y"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
  ]);
  expectNoFailure(replies);
  expect((await api.get("/emails?isActive=true")).body.total).toBeLessThanOrEqual(1);
  await expectNoDifference(organization);
  // The allowance still has exactly one seat.
  for (const id of ids) await api.patch(`/emails/${id}`, { isActive: true });
  expect((await api.get("/emails?isActive=true")).body.total).toBe(1);
});

test("a key that is revoked while it writes has written what was answered, no more", async () => {
  const organization = await createOrganization();
  const { id: org, domainId, key, keyId } = organization;
  const { dashboard } = await signedIn(org);
  const add = (_: unknown, index: number) =>
    createClient({ authorization: `Bearer ${key}` }).post("/emails", {
      email: `raced${index}@demo.example`,
      domainId,
    });
  const first = Array.from({ length: 10 }, add);
  await first[0];
  const revoked = dashboard.delete(`/api-keys/${keyId}`);
  const replies = await Promise.all([
    ...first,
    ...Array.from({ length: 10 }, (_, index) => add(_, 10 + index)),
  ]);
  expect((await revoked).status).toBe(200);
  expect(count(replies, 201) + count(replies, 401)).toBe(20);
  expectUnauthenticated(await organization.api.get("/emails"));
  const other = await createKeyClient(org);
  expect((await other.get("/emails")).body.total).toBe(count(replies, 201));
  await expectNoDifference(organization);
});

test("an admin who is removed while making keys leaves none that was not answered", async () => {
  const organization = await createOrganization();
  const { dashboard } = await signedIn(organization.id);
  const leaving = await signedIn(organization.id);
  const { total: already } = (await dashboard.get("/api-keys")).body as { total: number };
  const make = (_: unknown, index: number) => leaving.dashboard.post("/api-keys", { label: `Key ${index}` });
  const [removed, ...replies] = await Promise.all([
    dashboard.delete(`/members/${leaving.userId}`),
    ...Array.from({ length: 10 }, make),
  ]);
  expect(removed?.status).toBe(200);
  // 403: the session was checked before the removal, and the key would have been written after it.
  expect(count(replies, 201) + count(replies, 401) + count(replies, 403)).toBe(10);
  expect((await leaving.dashboard.post("/api-keys", { label: "Late" })).status).toBe(401);
  expect((await dashboard.get("/api-keys")).body.total).toBe(already + count(replies, 201));
});

test("a channel that is deleted while it is changed and tested does not come back", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const { dashboard } = await signedIn(organization.id);
  const url = `${inject("receiverUrl")}/deleted-${organization.id}`;
  const channel = await createChannel(api, { channel: "webhook", config: { url } });
  const replies = await Promise.all([
    ...[1, 2, 3].map(() => dashboard.post(`/alert-configs/${channel}/test`)),
    api.delete(`/alert-configs/${channel}`),
    ...Array.from({ length: 8 }, (_, index) =>
      api.patch(`/alert-configs/${channel}`, {
        notifyOnScanComplete: index % 2 === 0,
        config: { url: publicUrl },
      }),
    ),
  ]);
  expectNoFailure(replies);
  expect((await api.get("/alert-configs")).body.configs).toEqual([]);
  expect((await api.patch(`/alert-configs/${channel}`, { isEnabled: true })).status).toBe(404);
  expect((await dashboard.get(`/alert-configs/${channel}/deliveries`)).status).toBe(404);
  // All 20 places are free again.
  const create = () => createChannel(api, { channel: "webhook", config: { url: publicUrl } });
  await Promise.all(Array.from({ length: 20 }, create));
  const refused = await api.post("/alert-configs", { channel: "webhook", config: { url: publicUrl } });
  expect(refused.status).toBe(400);
  await expectNoDifference(organization);
});
