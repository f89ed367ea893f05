import { afterAll, beforeAll, expect, test } from "vitest";
import { startAnother } from "./another.ts";
import { createOrganization, eventually, type Organization } from "./client.ts";
import { type HibpServer, startHibpServer } from "./hibp-server.ts";
import type { LocalService } from "./run.ts";

const domain = "slow.example";
const rpm = 10;

let hibp: HibpServer;
let service: LocalService;
let organization: Organization;

beforeAll(async () => {
  hibp = await startHibpServer();
  hibp.rpm = rpm;
  service = await startAnother(["--memory", "--hibp-url", hibp.url]);
  organization = await createOrganization({}, { domain, apiUrl: service.apiUrl });
});

afterAll(async () => {
  await service?.stop();
  await hibp?.close();
});

type Listed = { status: string; totalEmails: number; scannedEmails: number; newBreachesFound: number };

test("ten requests a minute: a scan of more addresses takes its time, shows how far it is, and misses only the one that never answers", async () => {
  const aliases = ["mute", ...Array.from({ length: 11 }, (_, index) => `user${index}`)];
  for (const alias of aliases) {
    await organization.api.post("/emails", {
      email: `${alias}@${domain}`,
      domainId: organization.domainId,
    });
    hibp.accounts[`${alias}@${domain}`] = ["Alpha"];
  }
  hibp.fail = (path) => (path.includes("mute%40") ? "never answers" : undefined);
  expect((await organization.api.post("/scans")).status).toBe(201);

  const seen = new Set<number>();
  const ended = await eventually(
    async () => {
      const { scans } = (await organization.api.get("/scans?limit=1")).body as { scans: Listed[] };
      seen.add(scans[0]?.scannedEmails ?? 0);
      return scans[0];
    },
    (latest) => latest?.status === "completed" || latest?.status === "failed",
    200,
  );
  expect(ended).toMatchObject({
    status: "completed",
    totalEmails: aliases.length,
    scannedEmails: aliases.length - 1,
    newBreachesFound: aliases.length - 1,
    errorMessage: expect.stringContaining("1 of 12 monitored emails could not be scanned"),
  });
  // Some were counted while others had to wait for the next minute.
  expect([...seen].some((count) => count > 0 && count < aliases.length - 1)).toBe(true);
  for (const { at } of hibp.requests) {
    const inMinute = hibp.requests.filter((request) => request.at >= at && request.at < at + 60_000);
    expect(inMinute.length).toBeLessThanOrEqual(rpm);
  }
}, 240_000);
