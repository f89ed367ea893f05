import { expect, test } from "vitest";
import * as table from "../../shared/aws/table/table.ts";
import { scans } from "../../shared/scanning/record.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { createScanned } from "../service/scanned.ts";
import { expectRefusal } from "./reply.ts";

test("200: what was checked, and how each domain was asked about, for keys and users", async () => {
  const { id: org, api, domainId, scanId: id } = await createScanned();
  const reply = await api.get(`/scans/${id}/coverage`);
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.body).toEqual({
    checked: 1,
    failed: [],
    skipped: [],
    stale: { count: 0, oldest: null },
    domains: [{ id: domainId, name: "demo.example", method: "domain_search", reason: null }],
  });
  const user = await signedIn(org);
  expect((await user.v1.get(`/scans/${id}/coverage`)).body).toEqual(reply.body);
});

test("404: a scan of more than 365 days ago", async () => {
  const { id: org, api, scanId: id } = await createScanned();
  await table.update(scans.key(org, id), { set: { createdAt: "2020-01-01T00:00:00.000Z" } });
  expectRefusal(await api.get(`/scans/${id}/coverage`), 404, /365 days/);
});
