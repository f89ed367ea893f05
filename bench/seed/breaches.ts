/** The breaches of a seeded table: as Have I Been Pwned lists them, and as the catalog stores them. */
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import { upstreamBreach as upstreamForm } from "../../shared/hibp/breach.ts";
import { stateKey } from "../../shared/hibp/breach-details.ts";
import { digestOf, entryOf, namedBy } from "../../shared/hibp/catalog.ts";
import { levelOf } from "../../shared/hibp/severity.ts";
import { type Row, smallScans } from "./shape.ts";

/** Breaches that the two large scans found; each of the newer scans found one more breach. */
export const oldBreaches = 400;
export const breachCount = oldBreaches + smallScans.length;

export const breachName = (id: number): string => `Seeded${String(id).padStart(3, "0")}`;

/** A breach as Have I Been Pwned lists it. */
export const upstreamBreach = (id: number) => ({
  ...inventedBreach(breachName(id), `Seeded breach ${id}`),
  Domain: `seeded-${id}.example`,
  PwnCount: 1_234_567,
  Description:
    `In February 2020, the invented service <a href="https://seeded-${id}.example">Seeded ` +
    `${id}</a> had a data breach. ` +
    `${"The data was later found on a forum, with addresses, names and salted hashes of passwords. ".repeat(4)}`,
  // Every severity is in every block of a large scan.
  IsStealerLog: id % 10 === 0,
  DataClasses: [
    "Email addresses",
    "Names",
    "Employers",
    ...(id % 3 === 0 ? [] : ["Phone numbers"]),
    ...(id % 3 === 1 ? ["Passwords"] : []),
  ],
});

/** The severity of a breach as a level. */
export const levelOfBreach = (id: number): number => levelOf(upstreamForm.parse(upstreamBreach(id)).severity);

/**
 * The catalog as a sync has left it long ago: the next one announces nothing and changes no row, and
 * instances cache details.
 */
export const catalogRows = function* (): Generator<Row> {
  const listed = new Map<string, ReturnType<typeof entryOf>>();
  for (let id = 1; id <= breachCount; id++) {
    const entry = entryOf(upstreamForm.parse(upstreamBreach(id)));
    const { name } = entry.details;
    listed.set(name, entry);
    yield { ...keys.breach(id), ...entry.details, id };
    yield { ...keys.breachName(name), id, hash: entry.hash, ...namedBy(entry.details) };
  }
  const recorded = { token: "seeded", at: "2000-01-01T00:00:00.000Z" };
  yield { ...stateKey(), digest: digestOf(listed), token: recorded.token, recorded };
};
