import { describe, expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { scans } from "../../shared/scanning/record.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectEveryHeader, expectRefusal, unknownId } from "./reply.ts";
import { signIn } from "./sign-in.ts";

describe("200", () => {
  test("what was checked, and how each domain was asked about, for keys and users", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const { id } = await scan(api);
    const reply = await api.get(`/scans/${id}/coverage`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      checked: 1,
      failed: [],
      skipped: [],
      stale: { count: 0, oldest: null },
      domains: [{ id: domainId, name: "demo.example", method: "domain_search", reason: null }],
    });
    expectEveryHeader(reply);
    const user = await signIn(organization);
    expect((await user.api.get(`/scans/${id}/coverage`)).body).toEqual(reply.body);
  });
});

describe("400", () => {
  test.each(["0", "x", "1.5", "01"])("an id of %s", async (id) => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/scans/${id}/coverage`), 400, /^id/);
  });
});

describe("404", () => {
  test("an unknown id, and a scan of more than 365 days ago", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const { id } = await scan(api);
    expectRefusal(await api.get(`/scans/${unknownId}/coverage`), 404, /scan/);
    await table.update(scans.key(org, Number(id)), { set: { createdAt: "2020-01-01T00:00:00.000Z" } });
    expectRefusal(await api.get(`/scans/${id}/coverage`), 404, /365 days/);
  });
});
