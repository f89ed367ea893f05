/** Who a request of SCIM is from: the directory whose token it brings. */
import { timingSafeEqual } from "node:crypto";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { headerValues } from "../../access/api/credential.ts";
import * as limits from "../../access/api/limits.ts";
import { sourceAddress } from "../../access/api/source-address.ts";
import { billingRefusal } from "../../access/billing/billing.ts";
import { readDirectoryToken } from "../../access/keys/secret.ts";
import type { Organization } from "../../access/organizations/organization.ts";
import { allOf, asRead, exists } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { refusals } from "../../contract/errors.ts";
import type { Directory } from "../directory.ts";
import { Problem } from "./problem.ts";

/** A minute, for `lastUsedAt`. */
const exactMilliseconds = 60_000;

const tokenOf = (event: APIGatewayProxyEvent) => {
  const [only = "", ...rest] = headerValues(event, "authorization");
  const [, token = ""] = /^\s*bearer\s+(\S+)\s*$/i.exec(only) ?? [];
  return rest.length === 0 ? readDirectoryToken(token) : undefined;
};

const tooMany = (detail: string, seconds: number): Problem =>
  new Problem(429, detail, { headers: { "Retry-After": String(seconds) } });

/** Refuses a request without a valid token, and counts it against the limit of its source address. */
const refuse = async (event: APIGatewayProxyEvent, now: Date): Promise<never> => {
  const address = sourceAddress(event);
  const known = limits.secondsRefused("WRONG-TOKEN", address, now);
  const seconds = known > 0 ? known : (await limits.countMinute("WRONG-TOKEN", address, now)).refusedSeconds;
  if (seconds > 0) throw tooMany("Too many requests without a valid token", seconds);
  throw new Problem(401, "The token of a connected directory is required", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
};

/**
 * The directory of a request, with one trip to the table, and another one that counts it. Throws a `Problem`: 401,
 * 402 while the organization is not served, 429.
 */
export const authenticate = async (
  event: APIGatewayProxyEvent,
  now: Date,
): Promise<{ org: number; directory: Directory }> => {
  const token = tokenOf(event);
  if (token === undefined) return refuse(event, now);
  const { organizationId: org, place, hash } = token;
  const [row, organization] = await Promise.all([
    table.get<Directory & Key>(keys.connectedDirectory(org, place)),
    organizationOf(org, now),
  ]);
  const isValid = row !== undefined && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash));
  if (!isValid || organization === undefined || organization.deleting === true) return refuse(event, now);
  const refusal = billingRefusal(organization.billing, now);
  if (refusal !== undefined) throw new Problem(402, refusals[refusal].error);
  const { refusedSeconds } = await limits.countMinute("DIRECTORY", `${org}#${row.id}`, now);
  if (refusedSeconds > 0)
    throw tooMany("The directory sends more than 1,500 requests a minute", refusedSeconds);
  await noteUse(row, now);
  return { org, directory: row };
};

/** Organizations as this instance last read them: whether one is served changes rarely, and directories call often. */
const known = new Map<number, { at: number; organization: Organization | undefined }>();
const knownMilliseconds = 30_000;
const maximumKnown = 1_000;

const organizationOf = async (org: number, now: Date): Promise<Organization | undefined> => {
  const before = known.get(org);
  if (before !== undefined && now.getTime() < before.at + knownMilliseconds) return before.organization;
  const organization = await table.get<Organization>(keys.organization(org));
  if (known.size >= maximumKnown) known.clear();
  known.set(org, { at: now.getTime(), organization });
  return organization;
};

/** Notes once a minute that the directory called. Another request may do so at the same time. */
const noteUse = async ({ pk, sk, lastUsedAt }: Directory & Key, now: Date): Promise<void> => {
  if (lastUsedAt !== undefined && now.getTime() < Date.parse(lastUsedAt) + exactMilliseconds) return;
  // The function's role lets it write no other attribute.
  await table.attempt(
    table.update(
      { pk, sk },
      { set: { lastUsedAt: now.toISOString() }, if: allOf(exists, asRead({ lastUsedAt })) },
    ),
  );
};
