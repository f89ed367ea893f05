/** What filters and dialogs offer, loaded when they open. */
import { allPages } from "../api/all-pages.ts";
import { call } from "../api/client.ts";
import type { FoundBreach } from "../api/routes.ts";
import { exactSecond, knownDay } from "../text/dates.ts";
import { inBothForms } from "../text/domain-name.ts";
import type { Choice } from "./field.tsx";

async function choicesOf<Row extends { id: number }>(
  pages: AsyncIterable<{ rows: readonly Row[] }>,
  labelOf: (row: Row) => string,
): Promise<Choice[]> {
  const choices: Choice[] = [];
  for await (const { rows } of pages)
    choices.push(...rows.map((row) => ({ value: String(row.id), label: labelOf(row), isName: true })));
  return choices;
}

export const domainChoices = (): Promise<Choice[]> =>
  choicesOf(
    allPages("domains", (query) => call("GET /dashboard/domains", { query })),
    ({ name, isVerified }) => `${inBothForms(name)}${isVerified ? "" : " (not verified)"}`,
  );

export const memberChoices = (): Promise<Choice[]> =>
  choicesOf(
    allPages("members", (query) => call("GET /dashboard/members", { query })),
    ({ email }) => inBothForms(email),
  );

export const teamChoices = (): Promise<Choice[]> =>
  choicesOf(
    allPages("teams", (query) => call("GET /dashboard/teams", { query })),
    ({ name }) => name,
  );

/** A scan has no other name than its time. Two can begin in the same minute. */
export const scanName = ({ createdAt }: { createdAt: string }): string => exactSecond(Date.parse(createdAt));

export const scanChoices = (): Promise<Choice[]> =>
  choicesOf(
    allPages("scans", (query) => call("GET /v1/scans", { query })),
    scanName,
  );

/** The breaches of what a list shows: of findings, or of addresses that nobody watches. */
const breachChoicesOf = async (isListed: (breach: FoundBreach) => boolean): Promise<Choice[]> => {
  const breaches: FoundBreach[] = [];
  const pages = allPages("breaches", (query) => call("GET /dashboard/breaches", { query }));
  for await (const { rows } of pages) breaches.push(...rows.filter(isListed));
  // The year tells those of one title apart.
  const isShared = (wanted: string): boolean => breaches.filter(({ title }) => title === wanted).length > 1;
  return breaches
    .map(({ id, title, breachDate }) => ({
      value: String(id),
      label: isShared(title) ? `${title}, ${knownDay(breachDate)?.slice(0, 4) ?? "year not known"}` : title,
      isName: true,
    }))
    .sort((one, other) => one.label.localeCompare(other.label));
};

export const breachChoices = (): Promise<Choice[]> =>
  breachChoicesOf(({ open, acknowledged }) => open + acknowledged > 0);

export const unwatchedBreachChoices = (): Promise<Choice[]> =>
  breachChoicesOf(({ unwatched }) => unwatched > 0);
