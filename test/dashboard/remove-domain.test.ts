import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});
const remove = (id: unknown) => user.dashboard.delete(`/domains/${id}`);

describe("200", () => {
  test("removes the domain; again succeeds and is not logged", async () => {
    const name = "gone.remove.example";
    const { id } = (await user.dashboard.post("/domains", { name })).body;
    for (const _ of [1, 2]) expect(await remove(id)).toMatchObject({ status: 200, body: { success: true } });
    const { domains } = (await user.dashboard.get("/domains")).body as { domains: { name: string }[] };
    expect(domains.map((domain) => domain.name)).toEqual([organization.domain]);
    expect(await activity(user.v1, "domain.removed")).toMatchObject([
      { category: "monitoring", summary: `Removed the domain ${name}`, actor: { label: user.email } },
    ]);
    const again = await user.dashboard.post("/domains", { name });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(id);
  });
});

describe("404", () => {
  test("an unknown id", async () => expectRefusal(await remove(unknownId), 404, /No domain/));
});

describe("409", () => {
  test("keeps a domain that has e-mails, disabled ones included", async () => {
    const { api, domain, domainId } = organization;
    const { id } = (await api.post("/emails", { email: `ada@${domain}`, domainId })).body;
    await api.patch(`/emails/${id}`, { isActive: false });
    expectRefusal(await remove(domainId), 409, /has monitored emails/, { code: "domain_in_use" });
    await api.delete(`/emails?id=${id}`);
    expect((await remove(domainId)).status).toBe(200);
  });
});
