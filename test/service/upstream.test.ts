import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

let hibp: HibpServer;
let service: LocalService;
let count = 0;

/** Named before the service starts, which asks at most once a minute what the subscription covers. */
const coveredDomains = Array.from({ length: 20 }, (_, index) => `covered${index + 1}.example`);

let catalog: HibpServer["catalog"];
let domain: string;
let organization: Organization;

beforeAll(async () => {
  hibp = await startHibpServer();
  ({ catalog } = hibp);
  hibp.covered = coveredDomains;
  service = await startOwnService(["--memory", "--hibp-url", hibp.url]);
});

afterAll(async () => {
  await service?.stop();
  await hibp?.close();
});

beforeEach(async ({ task }) => {
  count++;
  domain = `${task.suite?.name === "a covered domain" ? "covered" : "single"}${count}.example`;
  organization = await createOrganization({}, { domain, apiUrl: service.apiUrl });
  hibp.fail = () => undefined;
  hibp.requests = [];
  hibp.accounts = {};
  // A breach that is new would have the catalog synced within a minute, in the middle of a later test.
  hibp.catalog = catalog;
});

const add = async (...aliases: string[]): Promise<void> => {
  for (const alias of aliases) {
    const added = await organization.api.post("/emails", {
      email: `${alias}@${domain}`,
      domainId: organization.domainId,
    });
    expect(added.status).toBe(201);
  }
};

const emailsByAlias = async (): Promise<Record<string, Record<string, unknown>>> => {
  const { emails } = (await organization.api.get("/emails")).body as {
    emails: Record<string, unknown>[];
  };
  return Object.fromEntries(emails.map((email) => [String(email.email).split("@")[0], email]));
};

const findings = async () =>
  (await organization.api.get("/breaches")).body as {
    total: number;
    breaches: { id: number; email: string; breach: { name: string; title: string }; lastSeenAt: string }[];
  };

const asked = (path: string): number => hibp.requests.filter((each) => each.path.startsWith(path)).length;

describe("a domain that the subscription does not cover", () => {
  test("is looked up address by address, and every look-up counts", async () => {
    await add("clean", "one", "two");
    hibp.accounts = { [`one@${domain}`]: ["Alpha"], [`two@${domain}`]: ["Alpha", "Beta"] };
    expect(await scan(organization.api)).toMatchObject({
      status: "completed",
      totalEmails: 3,
      scannedEmails: 3,
      newBreachesFound: 3,
      errorMessage: null,
    });
    const emails = await emailsByAlias();
    expect(emails.clean).toMatchObject({ breachCount: 0, lastScannedAt: expect.any(String) });
    expect(emails.two).toMatchObject({ breachCount: 2, unacknowledgedBreachCount: 2 });
    expect(asked("breachedaccount")).toBe(3);
    expect(await scan(organization.api)).toMatchObject({ status: "completed", newBreachesFound: 0 });
    expect((await findings()).total).toBe(3);
  });

  test("fails only the address that the upstream refuses; the next scan tries it again", async () => {
    await add("bad", "good");
    hibp.fail = (path) => (path.includes("bad%40") ? { status: 400 } : undefined);
    const ended = await scan(organization.api);
    expect(ended).toMatchObject({ status: "completed", totalEmails: 2, scannedEmails: 1 });
    expect(ended.errorMessage).toMatch(/^1 of 2 monitored emails could not be scanned/);
    const emails = await emailsByAlias();
    expect(emails.bad?.lastScannedAt).toBeNull();
    expect(emails.good?.lastScannedAt).not.toBeNull();
    hibp.fail = () => undefined;
    expect(await scan(organization.api)).toMatchObject({ scannedEmails: 2, errorMessage: null });
  });

  test("keeps findings of sensitive breaches, which look-ups leave out, as last seen", async () => {
    await add("one");
    hibp.catalog = [...hibp.catalog, { ...inventedBreach("Sensitive"), IsSensitive: true }];
    hibp.accounts = { [`one@${domain}`]: ["Sensitive"] };
    await scan(organization.api);
    const before = (await emailsByAlias()).one;
    hibp.accounts = {};
    await scan(organization.api);
    const [finding] = (await findings()).breaches;
    const email = (await emailsByAlias()).one;
    expect(String(email?.lastScannedAt) > String(before?.lastScannedAt)).toBe(true);
    expect(finding?.lastSeenAt).toBe(before?.lastScannedAt);
    hibp.accounts = { [`one@${domain}`]: ["Sensitive"] };
    await scan(organization.api);
    const [seenAgain] = (await findings()).breaches;
    expect(seenAgain?.id).toBe(finding?.id);
    expect(seenAgain?.lastSeenAt).toBe((await emailsByAlias()).one?.lastScannedAt);
  });
});

describe("a covered domain", () => {
  test("that answers 403 falls back to single look-ups", async () => {
    await add("one");
    hibp.accounts = { [`one@${domain}`]: ["Beta"] };
    hibp.fail = (path) => (path.startsWith("breacheddomain/") ? { status: 403 } : undefined);
    expect(await scan(organization.api)).toMatchObject({ status: "completed", newBreachesFound: 1 });
  });

  test("that does not answer fails the scan truthfully, and nothing reads as clean", async () => {
    await add("one");
    hibp.fail = (path) => (path.startsWith("breacheddomain/") ? { status: 503 } : undefined);
    const ended = await scan(organization.api);
    expect(ended).toMatchObject({
      status: "failed",
      totalEmails: 1,
      scannedEmails: 0,
      findingsItemized: false,
    });
    expect(ended.errorMessage).toMatch(/^None of 1 monitored emails could be scanned/);
    expect((await emailsByAlias()).one?.lastScannedAt).toBeNull();
  });

  test("with an answer of 20 MB is compared with its monitored addresses", async () => {
    await add("user7", "user199999", "clean");
    for (let index = 0; index < 200_000; index++) {
      hibp.accounts[`user${index}@${domain}`] = ["Alpha", "Beta", ...Array(12).fill("Alpha")];
    }
    expect(await scan(organization.api)).toMatchObject({
      status: "completed",
      scannedEmails: 3,
      newBreachesFound: 4,
    });
    expect(asked("breacheddomain")).toBe(1);
    expect(asked("breachedaccount")).toBe(0);
  });

  test("a breach that vanishes upstream and comes back is the same finding", async () => {
    await add("one");
    hibp.accounts = { [`one@${domain}`]: ["Alpha", "Beta"] };
    await scan(organization.api);
    const before = (await findings()).breaches.find(({ breach }) => breach.name === "Beta");

    hibp.accounts = { [`one@${domain}`]: ["Alpha"] };
    await scan(organization.api);
    const away = (await findings()).breaches;
    expect(away.find(({ breach }) => breach.name === "Beta")).toMatchObject({
      id: before?.id,
      lastSeenAt: before?.lastSeenAt,
    });
    const other = away.find(({ breach }) => breach.name === "Alpha");
    expect(String(other?.lastSeenAt) > String(before?.lastSeenAt)).toBe(true);

    hibp.accounts = { [`one@${domain}`]: ["Alpha", "Beta"] };
    expect(await scan(organization.api)).toMatchObject({ newBreachesFound: 0 });
    const back = (await findings()).breaches.find(({ breach }) => breach.name === "Beta");
    expect(back?.id).toBe(before?.id);
    expect(String(back?.lastSeenAt) > String(other?.lastSeenAt)).toBe(true);
  });

  test("an address that vanishes upstream as the last of its domain keeps its findings", async () => {
    await add("one");
    hibp.accounts = { [`one@${domain}`]: ["Alpha"] };
    await scan(organization.api);
    const [before] = (await findings()).breaches;
    const checkedBefore = (await emailsByAlias()).one?.lastScannedAt;

    hibp.accounts = {};
    expect(await scan(organization.api)).toMatchObject({
      status: "completed",
      scannedEmails: 1,
      newBreachesFound: 0,
      errorMessage: null,
    });
    expect((await findings()).breaches).toEqual([before]);
    const email = (await emailsByAlias()).one;
    expect(email).toMatchObject({ breachCount: 1 });
    expect(String(email?.lastScannedAt) > String(checkedBefore)).toBe(true);
  });

  test("a breach that the catalog does not know yet is a finding at once", async () => {
    await add("one");
    hibp.catalog = [...hibp.catalog, inventedBreach(`New${count}`)];
    hibp.accounts = { [`one@${domain}`]: [`New${count}`, `Unlisted${count}`] };
    expect(await scan(organization.api)).toMatchObject({ newBreachesFound: 2 });
    const titles = (await findings()).breaches.map(({ breach }) => breach.title).sort();
    expect(titles).toEqual([`New${count} (invented)`, `Unlisted${count}`]);
  });
});
