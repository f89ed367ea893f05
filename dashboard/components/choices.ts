/** What filters and dialogs offer, loaded when they open. */
import { allPages } from "../api/all-pages.ts";
import { call } from "../api/client.ts";
import { exactSecond } from "../text/dates.ts";
import { inBothForms } from "../text/domain-name.ts";
import type { Choice } from "./field.tsx";

export async function domainChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  const pages = allPages(
    (query) => call("GET /dashboard/domains", { query }),
    ({ domains }) => domains,
  );
  for await (const { rows } of pages) {
    for (const { id, name, isVerified } of rows) {
      const label = `${inBothForms(name)}${isVerified ? "" : " (not verified)"}`;
      choices.push({ value: String(id), label });
    }
  }
  return choices;
}

export async function teamChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  const pages = allPages(
    (query) => call("GET /dashboard/teams", { query }),
    ({ teams }) => teams,
  );
  for await (const { rows } of pages)
    for (const { id, name } of rows) choices.push({ value: String(id), label: name });
  return choices;
}

/** A scan has no other name than its time. Two can begin in the same minute. */
export const scanName = ({ createdAt }: { createdAt: string }): string => exactSecond(Date.parse(createdAt));

export async function scanChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  const pages = allPages(
    (query) => call("GET /v1/scans", { query }),
    ({ scans }) => scans,
  );
  for await (const { rows } of pages)
    for (const scan of rows) choices.push({ value: String(scan.id), label: scanName(scan) });
  return choices;
}

/** All breaches that have findings. */
export async function breachChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  const pages = allPages(
    (query) => call("GET /dashboard/breaches", { query }),
    ({ breaches }) => breaches,
  );
  for await (const { rows } of pages)
    for (const { id, title } of rows) choices.push({ value: String(id), label: title });
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}
