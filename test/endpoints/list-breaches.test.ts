import { beforeAll, describe, expect, test } from "vitest";
import { detailedBreach } from "../../shared/findings/finding-schema.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { addEmail } from "./emails.ts";

// test/dashboard/list-findings.test.ts has filters and orders, which are the same.
describe("200", () => {
  let api: Organization["api"];
  let first: unknown;
  let second: unknown;

  // The first scan finds three breaches of ada, the second four of grace. One finding of each scan is
  // acknowledged.
  beforeAll(async () => {
    const organization = await createOrganization();
    api = organization.api;
    await addEmail(api, organization.domainId);
    first = (await scan(api)).id;
    await addEmail(api, organization.domainId, "grace@demo.example");
    second = (await scan(api)).id;
    const breaches = await api.list("/breaches");
    for (const id of [breaches.at(0).id, breaches.at(-1).id]) await api.post("/breaches/acknowledge", { id });
  });

  test("newest first: highest id first, and pages show each finding once", async () => {
    const all = await api.list("/breaches");
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const pages = [0, 3, 6, 9].map(async (offset) => api.get(`/breaches?limit=3&offset=${offset}`));
    for (const [index, { body }] of (await Promise.all(pages)).entries()) {
      const breaches = all.slice(3 * index, 3 * index + 3);
      expect(body).toEqual({ breaches, total: 7, unacknowledged: 5 });
    }
  });

  test("lastSeenAt is the e-mail's last check, and stands still while it is disabled", async () => {
    const { api, domainId } = await createOrganization();
    const ids = [await addEmail(api, domainId), await addEmail(api, domainId, "grace@demo.example")];
    /** The lastSeenAt of each e-mail, which must be the same in both lists. */
    const seen = async (): Promise<string[]> => {
      const [breaches, emails] = [await api.list("/breaches"), await api.list("/emails")];
      return ids.map((id) => {
        const { lastScannedAt } = emails.find((email) => email.id === id);
        const times = breaches.filter(({ emailId }) => emailId === id).map(({ lastSeenAt }) => lastSeenAt);
        expect(new Set(times)).toEqual(new Set([lastScannedAt]));
        return lastScannedAt;
      });
    };
    await scan(api);
    const [disabledAt, before = ""] = await seen();
    await api.patch(`/emails/${ids[0]}`, { isActive: false });
    await scan(api);
    const [whileDisabled, after = ""] = await seen();
    expect(whileDisabled).toBe(disabledAt);
    expect(after > before).toBe(true);
  });

  test("a scan that sees a finding again moves its lastSeenAt, but not its scan", async () => {
    for (const { firstDetectedAt, lastSeenAt } of await api.list(`/breaches?scanId=${first}`))
      expect(lastSeenAt > firstDetectedAt).toBe(true);
    for (const { firstDetectedAt, lastSeenAt } of await api.list(`/breaches?scanId=${second}`))
      expect(lastSeenAt).toBe(firstDetectedAt);
  });

  test("include=details adds severity, owner and team; data classes are worst first", async () => {
    const plain = await api.list("/breaches");
    const full = await api.list("/breaches?include=details");
    const [{ breach: known, ...finding }] = plain;
    expect(`${Object.keys(finding)} of ${Object.keys(known)}`).toBe(
      "id,email,emailId,firstDetectedAt,lastSeenAt,firstDetectedScanId,acknowledged,acknowledgedAt," +
        "acknowledgedBy,acknowledgedByApiKey,acknowledgeReason,resolution of " +
        "id,name,title,domain,breachDate,dataClasses,pwnCount,description",
    );
    expect(full).toMatchObject(
      plain.map(({ breach, ...rest }) => ({
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
});
