import { beforeAll, describe, expect, test } from "vitest";
import { severities } from "../../shared/hibp/severity-schema.ts";
import { addEmail } from "../endpoints/emails.ts";
import { unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Row } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
let teamId: number;
let owned: number;
/** As the API lists them, newest first, with the ids of e-mails and breaches. */
let all: Row[];

const list = async (query = "") => {
  const { status, body } = await user.dashboard.get(`/findings${query}`);
  expect(status).toBe(200);
  return body as typeof body & { findings: Row[] };
};

beforeAll(async () => {
  organization = await createOrganization();
  const { id: org, api, domainId } = organization;
  user = await signedIn(org);
  teamId = (await admin("team create", { org, name: "Team" })).id;
  owned = await addEmail(api, domainId, "ada@demo.example");
  await addEmail(api, domainId, "alan@demo.example");
  await scan(api);
  await addEmail(api, domainId, "grace@demo.example");
  await scan(api);
  await user.dashboard.patch(`/emails/${owned}`, { teamId, ownerName: "Ada" });
  const [first, second] = await api.list("/breaches");
  for (const { id } of [first, second]) await api.post("/breaches/acknowledge", { id });
  all = await api.list("/breaches?include=details&limit=100");
});

describe("200", () => {
  test("findings as GET /breaches?include=details gives them, with owner and team", async () => {
    const { findings, total, unacknowledged } = await list("?limit=100");
    expect(findings).toEqual(
      all.map((finding) => ({
        ...finding,
        ownerName: finding.emailId === owned ? "Ada" : null,
        team: finding.emailId === owned ? { id: teamId, name: "Team" } : null,
      })),
    );
    expect({ total, unacknowledged }).toEqual({ total: all.length, unacknowledged: all.length - 2 });
  });

  // counted-list.test.ts and by-breach.test.ts have all combinations.
  test("by each filter and all together, with pages and totals of what matches", async () => {
    const { id, emailId, breach, severity, firstDetectedScanId } = all[1] as Row;
    const filters: Record<string, (finding: Row) => boolean> = {
      "acknowledged=true": ({ acknowledged }) => acknowledged,
      "acknowledged=false": ({ acknowledged }) => !acknowledged,
      [`breachId=${breach.id}`]: (finding) => finding.breach.id === breach.id,
      [`domainId=${organization.domainId}`]: () => true,
      [`domainId=${unknownId}`]: () => false,
      [`emailId=${emailId}`]: (finding) => finding.emailId === emailId,
      "severity=high,critical,high": (finding) => ["high", "critical"].includes(finding.severity),
      [`scanId=${firstDetectedScanId}`]: (finding) => finding.firstDetectedScanId === firstDetectedScanId,
    };
    for (const [query, isMeant] of Object.entries(filters)) {
      const expected = all.filter(isMeant);
      const page = await list(`?limit=2&offset=1&${query}`);
      expect([query, page.total, page.findings.map((finding) => finding.id)]).toEqual([
        query,
        expected.length,
        expected.slice(1, 3).map((finding) => finding.id),
      ]);
    }
    const ofOne = `acknowledged=true&breachId=${breach.id}&domainId=${organization.domainId}&emailId=${emailId}`;
    const one = await list(`?${ofOne}&severity=${severity}&scanId=${firstDetectedScanId}`);
    expect(one).toMatchObject({ findings: [{ id }], total: 1 });
  });

  test("in the order of severity, newest first within one, also filtered", async () => {
    for (const [filter, matching] of [
      ["", all],
      [`&emailId=${owned}`, all.filter(({ emailId }) => emailId === owned)],
      ["&acknowledged=false", all.filter(({ acknowledged }) => !acknowledged)],
    ] as const) {
      const ordered = severities.flatMap((level) => matching.filter(({ severity }) => severity === level));
      const { findings } = await list(`?limit=4&offset=2&order=severity${filter}`);
      expect(findings.map(({ id }) => id)).toEqual(ordered.slice(2, 6).map(({ id }) => id));
    }
  });

  test("the scan that was asked for, also where nothing of it is listed", async () => {
    const scanId = all[0]?.firstDetectedScanId;
    const scanned = (await organization.api.list("/scans")).find(({ id }) => id === scanId);
    expect(scanned).toBeDefined();
    const [some, none] = [
      await list(`?scanId=${scanId}`),
      await list(`?scanId=${scanId}&emailId=${unknownId}`),
    ];
    expect(some.scan).toEqual(scanned);
    expect(none).toMatchObject({ findings: [], total: 0, scan: scanned });
  });

  test("of a breach, how many are acknowledged, whatever the state", async () => {
    const [one] = all.filter(({ acknowledged }) => acknowledged);
    const ofBreach = `breachId=${one?.breach.id}`;
    const acknowledged = all.filter(({ breach, ...row }) => breach.id === one?.breach.id && row.acknowledged);
    for (const state of ["", "&acknowledged=false", "&acknowledged=true"])
      expect(await list(`?${ofBreach}${state}`)).toMatchObject({ acknowledged: acknowledged.length });
    for (const query of ["", `?${ofBreach}&told=false`, `?${ofBreach}&emailId=${one?.emailId}`])
      expect(await list(query)).not.toHaveProperty("acknowledged");
    const { body } = await organization.api.get(`/breaches?include=details&${ofBreach}`);
    expect(Object.keys(body)).toEqual(["breaches", "total", "unacknowledged"]);
  });

  test("where none is open, how many are handled, and the breach that was asked for", async () => {
    const handled = all.filter(({ acknowledged }) => acknowledged);
    const [one] = handled;
    const ofOne = `emailId=${one?.emailId}&breachId=${one?.breach.id}`;
    expect(await list(`?acknowledged=false&${ofOne}`)).toMatchObject({
      findings: [],
      total: 0,
      handled: 1,
      breach: { id: one?.breach.id, acknowledged: expect.any(Number) },
    });
    const open = await list(`?acknowledged=false&breachId=${one?.breach.id}`);
    expect("breach" in open).toBe(open.findings.length === 0);
    expect(await list("?acknowledged=false")).not.toHaveProperty("handled");
  });
});
