/** What filters and dialogs offer, loaded when they open. */
import { call } from "../api/client.ts";
import { exactTime } from "../text/dates.ts";
import { inBothForms } from "../text/domain-name.ts";
import type { Choice } from "./field.tsx";

const limit = 100;

type Page<Row> = { rows: readonly Row[]; total: number };

/** What stands on all pages of a list. */
async function everyOne<Row>(ask: (query: { limit: number; offset: number }) => Promise<Page<Row>>) {
  const all: Row[] = [];
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const page = await ask({ limit, offset });
    all.push(...page.rows);
    total = page.total;
  }
  return all;
}

export async function domainChoices(): Promise<Choice[]> {
  const domains = await everyOne(async (query) => {
    const { domains: rows, total } = await call("GET /dashboard/domains", { query });
    return { rows, total };
  });
  return domains.map(({ id, name, isVerified }) => ({
    value: String(id),
    label: `${inBothForms(name)}${isVerified ? "" : " (not verified)"}`,
  }));
}

export async function teamChoices(): Promise<Choice[]> {
  const teams = await everyOne(async (query) => {
    const { teams: rows, total } = await call("GET /dashboard/teams", { query });
    return { rows, total };
  });
  return teams.map(({ id, name }) => ({ value: String(id), label: name }));
}

/** The newest. */
export async function scanChoices(): Promise<Choice[]> {
  const { scans } = await call("GET /v1/scans", { query: { limit } });
  return scans.map(({ id, createdAt }) => ({ value: String(id), label: exactTime(Date.parse(createdAt)) }));
}

/** All breaches that have findings. */
export async function breachChoices(): Promise<Choice[]> {
  const breaches = await everyOne(async (query) => {
    const { breaches: rows, total } = await call("GET /dashboard/breaches", { query });
    return { rows, total };
  });
  return breaches
    .map(({ id, title }) => ({ value: String(id), label: title }))
    .sort((one, other) => one.label.localeCompare(other.label));
}
