/**
 * The process that organizations.ts starts: creates organizations with the service's own code and reports
 * their scans.
 */
import { connect } from "../bin/admin/connect.ts";
import { administrator } from "../shared/access/activity/actor.ts";
import * as organizations from "../shared/access/organizations/organization.ts";
import { chunk } from "../shared/aws/table/chunk.ts";
import * as domains from "../shared/monitoring/domains/domain.ts";
import { importAll } from "../shared/monitoring/imports/commit.ts";
import { type ScanRecord, scans } from "../shared/scanning/record.ts";
import { start } from "../shared/scanning/start.ts";
import { activeBilling } from "./seed/organization.ts";

/** An organization with one verified domain and these addresses of it. */
export type Tenant = { domain: string; addresses: string[] };

/**
 * Creates organizations; starts a scan of an organization; or asks for the latest scan of each organization.
 */
export type TenantRequest = { create: Tenant[] } | { start: number } | { scansOf: number[] };

/** Ids of the organizations; id of the scan; or the latest scan of each organization. */
export type TenantAnswer = { ids: number[] } | { scanId: number } | { scans: (TenantScan | undefined)[] };

export type TenantScan = Pick<
  ScanRecord,
  "createdAt" | "completedAt" | "scannedEmails" | "newBreachesFound"
> & { status: string };

/** Organizations that are worked on at the same time. */
const concurrency = 16;

const create = async ({ domain: name, addresses }: Tenant): Promise<number> => {
  const { id } = await organizations.create({ name, billing: activeBilling, scanEvery: "never" });
  const domain = await domains.create(id, { name, verified: true });
  if (domain === "exists") throw new Error(`The domain ${name} exists already: names of tenants must differ`);
  const rows = addresses.map((email) => ({ email, domainId: domain.id, ownerName: null }));
  await importAll(id, rows, administrator);
  return id;
};

const latestScan = async (org: number): Promise<TenantScan | undefined> => {
  const [scan] = (await scans.page(org, { limit: 1, offset: 0 })).items;
  return scan && { ...scan, status: scans.groupOf(scan).status };
};

const concurrently = async <T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (const some of chunk(all, concurrency)) results.push(...(await Promise.all(some.map(act))));
  return results;
};

const answer = async (request: TenantRequest): Promise<TenantAnswer> => {
  if ("create" in request) return { ids: await concurrently(request.create, create) };
  if ("start" in request) return { scanId: await start(request.start, "manual", administrator) };
  return { scans: await concurrently(request.scansOf, latestScan) };
};

const [port = ""] = process.argv.slice(2);
await connect({ port, stack: undefined });
process.on("message", async (request: TenantRequest) => {
  process.send?.(await answer(request));
});
process.send?.("ready");
