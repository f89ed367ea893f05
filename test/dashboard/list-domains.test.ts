import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader, timestamp } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});

describe("200", () => {
  test("lists domains newest first, with record, coverage and number of e-mails", async () => {
    const { api, domain, domainId, id: org } = organization;
    const { body: added } = await user.dashboard.post("/domains", { name: "single.list.example" });
    const email = await api.post("/emails", { email: `ada@${domain}`, domainId });
    await api.patch(`/emails/${email.body.id}`, { isActive: false });
    await api.post("/emails", { email: `bob@${domain}`, domainId });
    await scan(api);
    const { dashboard } = await signedIn(org, { role: "member" });
    const reply = await dashboard.get("/domains");
    expectEveryHeader(reply);
    expect(reply.body).toEqual({
      domains: [
        {
          id: added.id,
          name: "single.list.example",
          isVerified: false,
          verifiedAt: null,
          checkedAt: null,
          record: {
            type: "TXT",
            name: "_breach-monitor.single.list.example",
            value: expect.stringMatching(/^breach-monitor=[0-9a-f]{32}$/),
          },
          coverage: "address_by_address",
          emailCount: 0,
        },
        {
          id: domainId,
          name: domain,
          isVerified: true,
          verifiedAt: timestamp,
          checkedAt: null,
          record: {
            type: "TXT",
            name: `_breach-monitor.${domain}`,
            value: expect.stringMatching(/^breach-monitor=[0-9a-f]{32}$/),
          },
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
});
