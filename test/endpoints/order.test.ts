import { beforeAll, describe, expect, test } from "vitest";
import { hashOf } from "../../shared/access/keys/secret.ts";
import type { OrganizationLimit } from "../../shared/contract/limits.ts";
import { type SignedIn, signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createChannel, publicUrl } from "../service/alert-channels.ts";
import { type Client, createClient, type Reply } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { presetCount, subjects } from "./limit-window.ts";
import { expectRefusal, unknownId } from "./reply.ts";

/** Uses up an organization's budget of an hourly limit. */
const useUp = (org: number, limit: OrganizationLimit): Promise<void> =>
  presetCount(subjects.organization(org, limit), 60, 3600);
const useUpKey = (key: string): Promise<void> => presetCount(subjects.key(hashOf(key)), 100, 60);

/** Sends requests that are wrong in one way each: path, method, input, and a resource that does not exist. */
const sendWrong = (api: Client): Promise<Reply[]> =>
  Promise.all([
    api.get("/nothing"),
    api.request("PUT", "/emails"),
    api.request("POST", "/emails", { raw: "{" }),
    api.delete(`/emails?id=${unknownId}`),
  ]);

/** Asserts that all of these requests are refused for the check that comes first. */
const expectEachRefused = async (api: Client, ...refusal: Refused): Promise<void> => {
  for (const reply of await sendWrong(api)) expectRefusal(reply, ...refusal);
};
type Refused = Parameters<typeof expectRefusal> extends [Reply, ...infer Rest] ? Rest : never;

/**
 * First the limit of the address (429), authentication (401), the limit of the key (429), and the
 * subscription (402). Then the route (404, 405), the input (400, 413), the organization's limit (429),
 * existence (404) and state (409, 400).
 */
describe("order", () => {
  test("1: the IP limit, 429, before all else", async () => {
    const { id: org, key } = await createOrganization();
    await admin("org billing", { org, status: "trial_expired" });
    const api = createClient({ authorization: `Bearer ${key}x` });
    await presetCount(subjects.address(api.address), 100, 60);
    await expectEachRefused(api, 429, /from this address/);
  });

  test("2: authentication, 401, before the key's limit", async () => {
    const { id: org, key, keyId } = await createOrganization();
    await admin("org billing", { org, status: "trial_expired" });
    await admin("key revoke", { org, key: keyId });
    await useUpKey(key);
    await expectEachRefused(createClient({ authorization: `Bearer ${key}` }), 401, /API key or session/);
  });

  test("3: the key's limit, 429, before the subscription", async () => {
    const { id: org, key, api } = await createOrganization();
    await admin("org billing", { org, status: "trial_expired" });
    await useUpKey(key);
    await expectEachRefused(api, 429, /with this API key/);
  });

  test("4: the subscription, 402, before the route", async () => {
    const { id: org, api } = await createOrganization();
    await admin("org billing", { org, status: "trial_expired" });
    await useUp(org, "emailAddsAndRemovals");
    await expectEachRefused(api, 402, /trial/, { reason: "trial_expired" });
  });

  describe("a cookie's origin, 403", () => {
    let organization: Organization;
    let user: SignedIn;

    beforeAll(async () => {
      organization = await createOrganization();
      user = await signedIn(organization.id);
      await admin("org billing", { org: organization.id, status: "trial_expired" });
    });

    test("before the subscription, the route and the input", async () => {
      const forged = createClient({ cookie: user.cookie, origin: "https://attacker.example" });
      expectRefusal(await forged.post("/nothing"), 403, /own origin/);
      expectRefusal(await forged.request("PUT", "/emails"), 403, /own origin/);
      expectRefusal(await forged.request("POST", "/emails", { raw: "{" }), 403, /own origin/);
      expectRefusal(await user.v1.post("/nothing"), 402, /trial/, { reason: "trial_expired" });
    });

    test("after it: a cookie that is not valid is 401", async () => {
      const forged = createClient({ cookie: `${user.cookie}x`, origin: "https://attacker.example" });
      expectRefusal(await forged.post("/nothing"), 401, /API key or session/);
    });
  });

  test("5: the route, 404 and 405, before the input", async () => {
    const { id: org, api } = await createOrganization();
    await useUp(org, "emailAddsAndRemovals");
    expectRefusal(await api.request("POST", "/nothing", { raw: "{" }), 404, /nothing at this path/);
    expectRefusal(await api.request("PUT", "/emails", { raw: "{" }), 405, /method/);
  });

  test("6: the input, 400 and 413, before the organization's limit, and uncounted", async () => {
    const { id: org, api } = await createOrganization();
    const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    for (const limit of [
      "emailAddsAndRemovals",
      "emailChanges",
      "importCommits",
      "alertConfigWrites",
      "acknowledgements",
    ] as const)
      await useUp(org, limit);
    const requests: [method: string, path: string, body: unknown][] = [
      ["POST", "/emails", { email: "x", domainId: 1 }],
      ["PATCH", `/emails/${unknownId}`, {}],
      ["POST", "/emails/import/commit", { emails: [] }],
      ["POST", "/breaches/acknowledgements", {}],
      ["POST", "/breaches/reopenings", {}],
      ["POST", "/alert-configs", { channel: "webhook", config: {} }],
      ["PATCH", `/alert-configs/${id}`, { config: { url: "https://10.0.0.1/" } }],
    ];
    const large = `{"a":"${"x".repeat(1024 * 1024)}"}`;
    for (const [method, path, body] of requests) {
      expectRefusal(await api.request(method, path, { body }), 400, /./);
      expectRefusal(await api.request(method, path, { raw: large }), 413, /too large/);
    }
    expectRefusal(await api.delete("/emails?id=x"), 400, /^id/);
  });

  test("7: the organization's limit, 429, before existence and state", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const added = await api.post("/emails", { email: "ada@demo.example", domainId });
    for (const limit of ["scans", "emailAddsAndRemovals", "emailChanges"] as const) await useUp(org, limit);
    const replies = await Promise.all([
      api.post("/emails", { email: "ada@demo.example", domainId }),
      api.post("/emails", { email: "ada@demo.example", domainId: unknownId }),
      api.delete(`/emails?id=${unknownId}`),
      api.patch(`/emails/${unknownId}`, { isActive: true }),
      api.patch(`/emails/${added.body.id}`, { isActive: false }),
      api.post("/scans"),
    ]);
    for (const reply of replies) {
      expectRefusal(reply, 429, /hourly limit/);
      expect(reply.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    }
    expect((await api.get("/emails")).body.emails).toMatchObject([{ isActive: true }]);
  });

  test("8: existence, 404, before state: 409, and 400 for state", async () => {
    const [{ id: org, api, domainId }, other] = await Promise.all([
      createOrganization(),
      createOrganization(),
    ]);
    const email = "ada@demo.example";
    await api.post("/emails", { email, domainId });
    // The address is monitored already (409), but the team does not exist (404).
    expectRefusal(await api.post("/emails", { email, domainId, teamId: unknownId }), 404, /team/);
    await admin("domain unverify", { org, domain: domainId });
    expectRefusal(await api.post("/emails", { email, domainId, teamId: unknownId }), 404, /team/);
    expectRefusal(await api.post("/emails", { email, domainId: other.domainId }), 404, /domain/);
    expectRefusal(await api.patch(`/emails/${unknownId}`, { isActive: true }), 404, /email/);
  });

  test("8, PATCH /emails/:id: 400 for an unverified domain, even if already active", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id } = (await api.post("/emails", { email: "ada@demo.example", domainId })).body;
    await admin("domain unverify", { org, domain: domainId });
    expectRefusal(await api.patch(`/emails/${id}`, { isActive: true }), 400, /domain is not verified/);
    expect((await api.get("/emails")).body.emails).toMatchObject([{ id, isActive: true }]);
  });
});
