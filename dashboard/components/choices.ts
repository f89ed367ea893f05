/** What filters and dialogs offer, loaded when they open. */
import { call } from "../api/client.ts";
import { exactTime } from "../text/dates.ts";
import { inBothForms } from "../text/domain-name.ts";
import type { Choice } from "./field.tsx";

const query = { limit: 100 };

export async function domainChoices(): Promise<Choice[]> {
  const { domains } = await call("GET /dashboard/domains", { query });
  return domains.map(({ id, name, isVerified }) => ({
    value: String(id),
    label: `${inBothForms(name)}${isVerified ? "" : " (not verified)"}`,
  }));
}

export async function teamChoices(): Promise<Choice[]> {
  const { teams } = await call("GET /dashboard/teams", { query });
  return teams.map(({ id, name }) => ({ value: String(id), label: name }));
}

export async function scanChoices(): Promise<Choice[]> {
  const { scans } = await call("GET /v1/scans", { query });
  return scans.map(({ id, createdAt }) => ({ value: String(id), label: exactTime(Date.parse(createdAt)) }));
}

/** All breaches that have findings. */
export async function breachChoices(): Promise<Choice[]> {
  const choices: Choice[] = [];
  for (let offset = 0, total = 1; offset < total; offset += query.limit) {
    const page = await call("GET /dashboard/breaches", { query: { ...query, offset } });
    choices.push(...page.breaches.map(({ id, title }) => ({ value: String(id), label: title })));
    total = page.total;
  }
  return choices.sort((one, other) => one.label.localeCompare(other.label));
}
