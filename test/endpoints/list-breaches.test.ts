import { beforeAll, describe, expect, test } from "vitest";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { expectEveryHeader, expectRefusal, timestamp, unknownId } from "./reply.ts";

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

  test("an organization without findings gets an empty list", async () => {
    const { api } = await createOrganization();
    const reply = await api.get("/breaches");
    expect(reply).toMatchObject({ status: 200, body: { breaches: [], total: 0, unacknowledged: 0 } });
    expectEveryHeader(reply);
  });

  test("a finding has exactly the fields of the contract, with the breach's details", async () => {
    const { breaches } = await list(`?scanId=${first}&acknowledged=false`);
    const found = breaches.find(
      (each) => (each as unknown as { breach: { name: string } }).breach.name === "ExampleTravel",
    );
    const [other] = breaches;
    expect(found ?? other).toEqual({
      id: expect.any(Number),
      email: "ada@demo.example",
      emailId,
      breach: {
        id: expect.any(Number),
        name: expect.stringMatching(/^Example/),
        title: expect.stringMatching(/\(invented\)$/),
        domain: expect.any(String),
        breachDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        dataClasses: expect.arrayContaining(["Email addresses"]),
        pwnCount: expect.any(Number),
        description: expect.any(String),
      },
      firstDetectedAt: timestamp,
      lastSeenAt: timestamp,
      firstDetectedScanId: first,
      acknowledged: false,
      acknowledgedAt: null,
      acknowledgedBy: null,
      acknowledgedByApiKey: null,
      acknowledgeReason: null,
      resolution: null,
    });
  });

  test("newest first: highest id first, and pages show each finding once", async () => {
    const { breaches, total, unacknowledged } = await list();
    expect([breaches.length, total, unacknowledged]).toEqual([7, 7, 5]);
    const ids = breaches.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => list(`?limit=3&offset=${offset}`)));
    expect(pages.flatMap((page) => page.breaches)).toEqual(breaches);
    expect(pages.map((page) => page.total)).toEqual([7, 7, 7, 7]);
  });

  test("filters combine with AND; unacknowledged counts all, whatever the filters", async () => {
    const totals = async (query: string) => {
      const { breaches, total, unacknowledged } = await list(`?${query}`);
      expect(breaches).toHaveLength(total);
      return [total, unacknowledged];
    };
    expect(await totals("acknowledged=true")).toEqual([2, 5]);
    expect(await totals("acknowledged=false")).toEqual([5, 5]);
    expect(await totals(`scanId=${first}`)).toEqual([3, 5]);
    expect(await totals(`scanId=${second}`)).toEqual([4, 5]);
    expect(await totals(`scanId=${second}&acknowledged=true`)).toEqual([1, 5]);
    expect(await totals(`scanId=${first}&acknowledged=false`)).toEqual([2, 5]);
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
    const { breaches: full, ...same } = (await organization.api.get("/breaches?include=details")).body as {
      breaches: Detailed[];
    };
    expect(same).toEqual(totals);
    expect(
      full.map(({ severity: _, ownerName: __, team: ___, breach, ...rest }) => {
        const { id, name, title, domain, breachDate, dataClasses, pwnCount, description } = breach;
        return {
          ...rest,
          breach: {
            id,
            name,
            title,
            domain,
            breachDate,
            dataClasses: dataClasses.toSorted(),
            pwnCount,
            description,
          },
        };
      }),
    ).toEqual(
      (plain as unknown as Detailed[]).map(({ breach, ...rest }) => ({
        ...rest,
        breach: { ...breach, dataClasses: breach.dataClasses.toSorted() },
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
      expect(breach).toMatchObject({
        severity: expect.stringMatching(/^(critical|high|medium|low)$/),
        addedDate: timestamp,
        modifiedDate: timestamp,
        isVerified: expect.any(Boolean),
        isFabricated: expect.any(Boolean),
        isSensitive: expect.any(Boolean),
        isRetired: expect.any(Boolean),
        isSpamList: expect.any(Boolean),
        isMalware: expect.any(Boolean),
        isStealerLog: expect.any(Boolean),
        attribution: null,
      });
      expect(Object.keys(breach)).toHaveLength(8 + 12);
      expect(breach.advice.length).toBeGreaterThan(0);
      expect(breach.advice.length).toBeLessThanOrEqual(4);
      for (const each of breach.advice) {
        expect(each).toEqual({ title: expect.any(String), steps: expect.any(Array) });
      }
    }
  });

  test("severity, breach, e-mail and domain filter, also without details", async () => {
    const { breaches: full } = (await organization.api.get("/breaches?include=details")).body as {
      breaches: Detailed[];
    };
    const severities = [...new Set(full.map(({ severity }) => severity))];
    expect(severities.length).toBeGreaterThan(1);
    const idsOf = async (query: string) => {
      const { breaches, total } = await list(`?${query}`);
      expect(breaches).toHaveLength(total);
      return breaches.map(({ id }) => id);
    };
    const expected = (matches: (finding: Detailed) => boolean) => full.filter(matches).map(({ id }) => id);
    for (const severity of ["critical", "high", "medium", "low"]) {
      expect(await idsOf(`severity=${severity}`)).toEqual(expected((each) => each.severity === severity));
    }
    const [one = "", two = ""] = severities;
    expect(await idsOf(`severity=${one},${two}`)).toEqual(
      expected(({ severity }) => [one, two].includes(severity)),
    );
    expect(await idsOf(`severity=${one},${one}`)).toEqual(expected(({ severity }) => severity === one));
    const breachId = full[0]?.breach.id;
    expect(await idsOf(`breachId=${breachId}`)).toEqual(expected(({ breach }) => breach.id === breachId));
    expect(await idsOf(`emailId=${emailId}&severity=${one}`)).toEqual(
      expected((each) => each.emailId === emailId && each.severity === one),
    );
    expect(await idsOf(`domainId=${organization.domainId}`)).toEqual(expected(() => true));
    expect(await idsOf(`domainId=${unknownId}`)).toEqual([]);
  });

  test("order=severity lists the worst first, newest first within a severity", async () => {
    const { breaches: full } = (await organization.api.get("/breaches?include=details")).body as {
      breaches: Detailed[];
    };
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

  test("an unknown scanId gives an empty list", async () =>
    expect(await list(`?scanId=${unknownId}`)).toEqual({ breaches: [], total: 0, unacknowledged: 5 }));
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
  ])("%s; the error names the parameter", async (query, error) => {
    const { api } = await createOrganization();
    expectRefusal(await api.get(`/breaches?${query}`), 400, error);
  });
});
