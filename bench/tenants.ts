/** The process that organizations.ts starts: makes organizations with the service's own code, and tells how they were scanned. */
import { connect } from "../bin/admin/connect.ts";
import { importAll } from "../shared/imports/commit.ts";
import { administrator } from "../shared/organizations/actor.ts";
import * as domains from "../shared/organizations/domain.ts";
import * as organizations from "../shared/organizations/organization.ts";
import { type ScanRecord, scans } from "../shared/scans/record.ts";
import { start } from "../shared/scans/scan.ts";
import { parts } from "../shared/table/parts.ts";
import { activeBilling } from "../test/organizations/billing.ts";

/** A tenant has one verified domain, and these addresses of it. */
export type Tenant = { domain: string; addresses: string[] };

export type Asked = { create: Tenant[] } | { start: number } | { scansOf: number[] };

/** The organizations' ids; the scan's id; or of each organization the latest scan. */
export type Answered = { ids: number[] } | { scanId: number } | { scans: (TenantScan | undefined)[] };

export type TenantScan = Pick<
  ScanRecord,
  "createdAt" | "completedAt" | "scannedEmails" | "newBreachesFound"
> & { status: string };

/** Organizations at the same time. */
const width = 16;

const create = async ({ domain: name, addresses }: Tenant): Promise<number> => {
  const { id } = await organizations.create({ name, billing: activeBilling, scanEvery: "never" });
  const domain = await domains.create(id, { name, verified: true });
  if (domain === "exists") throw new Error(`${name} is there already`);
  const rows = addresses.map((email) => ({ email, domainId: domain.id, ownerName: null }));
  await importAll(id, rows, administrator);
  return id;
};

const latestScan = async (org: number): Promise<TenantScan | undefined> => {
  const [scan] = (await scans.page(org, { limit: 1, offset: 0 })).items;
  return scan && { ...scan, status: scans.facetOf(scan).status };
};

const inTurns = async <T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (const part of parts(all, width)) results.push(...(await Promise.all(part.map(act))));
  return results;
};

const answer = async (asked: Asked): Promise<Answered> => {
  if ("create" in asked) return { ids: await inTurns(asked.create, create) };
  if ("start" in asked) return { scanId: await start(asked.start, "manual", administrator) };
  return { scans: await inTurns(asked.scansOf, latestScan) };
};

const [port = ""] = process.argv.slice(2);
await connect({ port, stack: undefined });
process.on("message", async (asked: Asked) => {
  process.send?.(await answer(asked));
});
process.send?.("ready");
