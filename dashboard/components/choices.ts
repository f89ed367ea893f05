/** What filters and dialogs offer, loaded when they open. */
import { allPages } from "../api/all-pages.ts";
import { call } from "../api/client.ts";
import { exactTime } from "../text/dates.ts";
import { inBothForms } from "../text/domain-name.ts";
import type { Choice } from "./field.tsx";

export async function domainChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  for await (const { domains } of allPages((query) => call("GET /dashboard/domains", { query }))) {
    for (const { id, name, isVerified } of domains) {
      const label = `${inBothForms(name)}${isVerified ? "" : " (not verified)"}`;
      choices.push({ value: String(id), label });
    }
  }
  return choices;
}

export async function teamChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  for await (const { teams } of allPages((query) => call("GET /dashboard/teams", { query })))
    for (const { id, name } of teams) choices.push({ value: String(id), label: name });
  return choices;
}

/** A scan has no other name than its time. */
export const scanName = ({ createdAt }: { createdAt: string }): string => exactTime(Date.parse(createdAt));

export async function scanChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  for await (const { scans } of allPages((query) => call("GET /v1/scans", { query })))
    for (const scan of scans) choices.push({ value: String(scan.id), label: scanName(scan) });
  return choices;
}

/** All breaches that have findings. */
export async function breachChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  for await (const { breaches } of allPages((query) => call("GET /dashboard/breaches", { query })))
    for (const { id, title } of breaches) choices.push({ value: String(id), label: title });
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}
