import { expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { scans } from "../../shared/scanning/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectRefusal } from "./reply.ts";

test("200: what was checked, and how each domain was asked about, for keys and users", async () => {
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
  const user = await signedIn(organization.id);
  expect((await user.v1.get(`/scans/${id}/coverage`)).body).toEqual(reply.body);
});

test("404: a scan of more than 365 days ago", async () => {
  const { id: org, api, domainId } = await createOrganization();
  await api.post("/emails", { email: "ada@demo.example", domainId });
  const { id } = await scan(api);
  await table.update(scans.key(org, Number(id)), { set: { createdAt: "2020-01-01T00:00:00.000Z" } });
  expectRefusal(await api.get(`/scans/${id}/coverage`), 404, /365 days/);
});
