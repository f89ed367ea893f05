import { beforeAll, describe, expect, test } from "vitest";
import { listBreaches } from "../../functions/list-breaches/endpoint.ts";
import { detailedBreach } from "../../shared/findings/finding-schema.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectInvalid } from "./invalid.ts";
import { expectEveryHeader, unknownId } from "./reply.ts";

type Detailed = {
  id: number;
  emailId: unknown;
  acknowledged: boolean;
  severity: string;
  ownerName: unknown;
  team: unknown;
  breach: Record<string, unknown> & {
    id: number;
    severity: string;
    dataClasses: string[];
    advice: unknown[];
  };
};

type Listed = { total: number; unacknowledged: number; breaches: { id: number; email: string }[] };

describe("200", () => {
  let organization: Organization;
  let emailId: unknown;
  let first: unknown;
  let second: unknown;

  // The first scan finds three breaches of ada, the second four of grace. One finding of each scan is
  // acknowledged.
  beforeAll(async () => {
    organization = await createOrganization();
    const { api, domainId } = organization;
    emailId = (await api.post("/emails", { email: "ada@demo.example", domainId })).body.id;
    first = (await scan(api)).id;
    await api.post("/emails", { email: "grace@demo.example", domainId });
    second = (await scan(api)).id;
    const { breaches } = await list();
    for (const id of [breaches.at(0)?.id, breaches.at(-1)?.id])
      await api.post("/breaches/acknowledge", { id });
  });

  const list = async (query = "") => (await organization.api.get(`/breaches${query}`)).body as Listed;
  const detailed = async () => (await list("?include=details")) as unknown as { breaches: Detailed[] };

  test("newest first: highest id first, and pages show each finding once", async () => {
    const reply = await organization.api.get("/breaches");
    expectEveryHeader(reply);
    const { breaches, total, unacknowledged } = reply.body as Listed;
    expect([breaches.length, total, unacknowledged]).toEqual([7, 7, 5]);
    const ids = breaches.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => list(`?limit=3&offset=${offset}`)));
    expect(pages.flatMap((page) => page.breaches)).toEqual(breaches);
    expect(pages.map((page) => page.total)).toEqual([7, 7, 7, 7]);
  });

  test("lastSeenAt is the e-mail's last check, and stands still while it is disabled", async () => {
    const { api, domainId } = await createOrganization();
    const ids: unknown[] = [];
    for (const alias of ["ada", "grace"]) {
      ids.push((await api.post("/emails", { email: `${alias}@demo.example`, domainId })).body.id);
    }
    type Found = { emailId: unknown; lastSeenAt: string };
    type Email = { id: unknown; lastScannedAt: string };
    /** The lastSeenAt of each e-mail, which must be the same in both lists. */
    const seen = async (): Promise<string[]> => {
      const { breaches } = (await api.get("/breaches")).body as { breaches: Found[] };
      const { emails } = (await api.get("/emails")).body as { emails: Email[] };
      return ids.map((id) => {
        const times = new Set(
          breaches.filter(({ emailId }) => emailId === id).map(({ lastSeenAt }) => lastSeenAt),
        );
        const [lastSeenAt] = times;
        expect(times.size).toBe(1);
        expect(lastSeenAt).toBe(emails.find((email) => email.id === id)?.lastScannedAt);
        return lastSeenAt ?? "";
      });
    };
    await scan(api);
    const [disabledAt, before = ""] = await seen();
    await api.patch(`/emails/${ids[0]}`, { isActive: false });
    await scan(api);
    const [whileDisabled, after = ""] = await seen();
    expect(whileDisabled).toBe(disabledAt);
    expect(after > before).toBe(true);
    await api.patch(`/emails/${ids[0]}`, { isActive: true });
    expect((await seen())[0]).toBe(disabledAt);
    await scan(api);
    const [enabled, other] = await seen();
    expect(enabled).toBe(other);
  });

  test("a scan that sees a finding again moves its lastSeenAt, but not its scan", async () => {
    const ofFirst = (await list(`?scanId=${first}`)).breaches as unknown as Record<string, string>[];
    for (const { firstDetectedAt = "", lastSeenAt = "" } of ofFirst) {
      expect(lastSeenAt > firstDetectedAt).toBe(true);
    }
    const ofSecond = (await list(`?scanId=${second}`)).breaches as unknown as Record<string, string>[];
    for (const { firstDetectedAt, lastSeenAt } of ofSecond) expect(lastSeenAt).toBe(firstDetectedAt);
  });

  test("include=details adds severity, owner and team; data classes are worst first", async () => {
    const { breaches: plain, ...totals } = await list();
    const { breaches: full, ...same } = await detailed();
    expect(same).toEqual(totals);
    const [{ breach: known, ...finding }] = plain as unknown as [Detailed];
    expect(`${Object.keys(finding)} of ${Object.keys(known)}`).toBe(
      "id,email,emailId,firstDetectedAt,lastSeenAt,firstDetectedScanId,acknowledged,acknowledgedAt,acknowledgedBy,acknowledgedByApiKey,acknowledgeReason,resolution of id,name,title,domain,breachDate,dataClasses,pwnCount,description",
    );
    expect(full).toMatchObject(
      (plain as unknown as Detailed[]).map(({ breach, ...rest }) => ({
        ...rest,
        breach: { ...breach, dataClasses: expect.arrayContaining(breach.dataClasses) },
      })),
    );
    const exposed = full.map(({ breach }) => breach.dataClasses).find((all) => all.includes("Passwords"));
    expect(exposed?.[0]).toBe("Passwords");
    for (const { severity, ownerName, team, breach } of full) {
      expect({ severity, ownerName, team }).toEqual({
        severity: breach.severity,
        ownerName: null,
        team: null,
      });
      expect(detailedBreach.parse(breach)).toEqual(breach);
      expect(Object.keys(breach)).toHaveLength(8 + 12);
      expect([1, 2, 3, 4]).toContain(breach.advice.length);
    }
  });

  test("severity, breach, e-mail and domain filter, also without details", async () => {
    const { breaches: full } = await detailed();
    const severities = [...new Set(full.map(({ severity }) => severity))];
    expect(severities.length).toBeGreaterThan(1);
    const idsOf = async (query: string) => {
      const { breaches, total } = await list(`?${query}`);
      expect(breaches).toHaveLength(total);
      return breaches.map(({ id }) => id);
    };
    const [one = "", two = ""] = severities;
    const breachId = full[0]?.breach.id;
    for (const [query, matches] of [
      ...["critical", "high", "medium", "low"].map(
        (level) => [`severity=${level}`, ({ severity }: Detailed) => severity === level] as const,
      ),
      [`severity=${one},${two},${one}`, ({ severity }: Detailed) => [one, two].includes(severity)],
      [`breachId=${breachId}`, ({ breach }: Detailed) => breach.id === breachId],
      [
        `emailId=${emailId}&severity=${one}`,
        (each: Detailed) => each.emailId === emailId && each.severity === one,
      ],
      [`domainId=${organization.domainId}`, () => true],
    ] as const) {
      expect([query, await idsOf(query)]).toEqual([query, full.filter(matches).map(({ id }) => id)]);
    }
    expect(await idsOf(`domainId=${unknownId}`)).toEqual([]);
    const beyond = `?breachId=${breachId}&offset=${Number.MAX_SAFE_INTEGER}`;
    expect(await list(beyond)).toMatchObject({
      breaches: [],
      total: (await list(`?breachId=${breachId}`)).total,
    });
  });

  test("order=severity lists the worst first, newest first within a severity", async () => {
    const { breaches: full } = await detailed();
    const rank = ["critical", "high", "medium", "low"];
    const ordered = (all: Detailed[]) =>
      all
        .toSorted(
          (one, other) => rank.indexOf(one.severity) - rank.indexOf(other.severity) || other.id - one.id,
        )
        .map(({ id }) => id);
    for (const [filter, matching] of [
      ["", full],
      [`&emailId=${emailId}`, full.filter((each) => each.emailId === emailId)],
      ["&acknowledged=false", full.filter(({ acknowledged }) => !acknowledged)],
    ] as const) {
      const pages = [0, 3, 6].map((offset) => list(`?order=severity&limit=3&offset=${offset}${filter}`));
      expect((await Promise.all(pages)).flatMap(({ breaches }) => breaches.map(({ id }) => id))).toEqual(
        ordered([...matching]),
      );
    }
  });
});

describe("400", () => {
  test.each([
    ["acknowledged=yes", /^acknowledged/],
    ["acknowledged=", /^acknowledged/],
    ["severity=high,worst", /^severity/],
    ["severity=", /^severity/],
    ["severity=high&severity=low", /^severity/],
    ["order=oldest", /^order/],
    ["include=everything", /^include/],
    ["breachId=x", /^breachId/],
    ["scanId=last", /^scanId/],
    ["scanId=0", /^scanId/],
    ["scanId=1&scanId=2", /^scanId/],
  ])("%s; the error names the parameter", (query, error) => expectInvalid(listBreaches, { query }, error));
});
