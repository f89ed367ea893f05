import { expect, test } from "vitest";
import { countStatuses, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { activity } from "./activity.ts";
import { signedIn } from "./signed-in.ts";

const create = async () => {
  const organization = await createOrganization();
  const { dashboard, v1, email } = await signedIn(organization.id);
  return {
    ...organization,
    v1,
    user: email,
    add: (name: string) => dashboard.post("/domains", { name }),
    remove: (id: unknown) => dashboard.delete(`/domains/${id}`),
    list: async () => await dashboard.list("/domains"),
  };
};

test("POST 201 gives the domain as it is listed, not verified yet", async () => {
  const { api, v1, user, add, list } = await create();
  const reply = await add(" New.Add.Example ");
  expect(reply).toMatchObject({ status: 201, body: { name: "new.add.example", isVerified: false } });
  expect((await list())[0]).toEqual(reply.body);
  expect(await activity(v1, "domain.added")).toMatchObject([
    { category: "monitoring", summary: "Added the domain new.add.example", actor: { label: user } },
  ]);
  const email = { email: "ada@new.add.example", domainId: reply.body.id };
  expectRefusal(await api.post("/emails", email), 400, /not verified/);
});

test("POST 409 for a name that the organization has, also when many come at once", async () => {
  const { domain, add } = await create();
  const replies = await Promise.all(Array.from({ length: 8 }, () => add("twice.add.example")));
  expect(countStatuses(replies)).toEqual({ 201: 1, 409: 7 });
  expectRefusal(await add(domain), 409, /already has a domain/, { code: "domain_exists" });
});

test("GET lists domains newest first, with record, coverage and number of e-mails", async () => {
  const { id: org, api, domain, domainId, add } = await create();
  const { body: added } = await add("single.list.example");
  const email = await api.post("/emails", { email: `ada@${domain}`, domainId });
  await api.patch(`/emails/${email.body.id}`, { isActive: false });
  await api.post("/emails", { email: `bob@${domain}`, domainId });
  await scan(api);
  const { dashboard } = await signedIn(org, { role: "member" });
  const reply = await dashboard.get("/domains");
  const proof = (name: string) => {
    const value = expect.stringMatching(/^breach-monitor=[0-9a-f]{32}$/);
    return { checkedAt: null, record: { type: "TXT", name: `_breach-monitor.${name}`, value } };
  };
  expect(reply.body).toEqual({
    domains: [
      {
        ...proof("single.list.example"),
        id: added.id,
        name: "single.list.example",
        isVerified: false,
        verifiedAt: null,
        coverage: "address_by_address",
        emailCount: 0,
      },
      {
        ...proof(domain),
        id: domainId,
        name: domain,
        isVerified: true,
        verifiedAt: timestamp,
        coverage: "domain_search",
        emailCount: 2,
      },
    ],
    total: 2,
    unwatched: (await dashboard.get("/overview")).body.unwatched,
  });
  expect(reply.body.unwatched).toBeGreaterThan(0);
  expect((await dashboard.get("/domains?limit=1&offset=1")).body).toMatchObject({
    domains: [{ id: domainId }],
    total: 2,
  });
});

test("DELETE removes the domain; again succeeds and is not logged", async () => {
  const { domain, v1, user, add, remove, list } = await create();
  const name = "gone.remove.example";
  const { id } = (await add(name)).body;
  for (const _ of [1, 2]) expect(await remove(id)).toMatchObject({ status: 200, body: { success: true } });
  expect((await list()).map((each) => each.name)).toEqual([domain]);
  expect(await activity(v1, "domain.removed")).toMatchObject([
    { category: "monitoring", summary: `Removed the domain ${name}`, actor: { label: user } },
  ]);
  const again = await add(name);
  expect(again.status).toBe(201);
  expect(again.body.id).not.toBe(id);
});

test("DELETE 409 for a domain that has e-mails, disabled ones included", async () => {
  const { api, domain, domainId, remove } = await create();
  const { id } = (await api.post("/emails", { email: `ada@${domain}`, domainId })).body;
  await api.patch(`/emails/${id}`, { isActive: false });
  expectRefusal(await remove(domainId), 409, /has monitored emails/, { code: "domain_in_use" });
  await api.delete(`/emails?id=${id}`);
  expect((await remove(domainId)).status).toBe(200);
});
