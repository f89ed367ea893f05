import { readFile } from "node:fs/promises";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { domainOf } from "../../../shared/contract/address.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { importAll } from "../../../shared/monitoring/imports/commit.ts";
import { type Candidate, extract } from "../../../shared/monitoring/imports/extract.ts";
import { importedAddress } from "../../../shared/monitoring/imports/import-schema.ts";
import type { Commands } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, parsePath } from "../flags.ts";
import { showProgress } from "../progress.ts";

export const emailCommands: Commands = {
  "email import": {
    about: "Adds the addresses of a file, with owners and teams, as the page's import reads it.",
    flags: { org: "required ID", file: "required FILE", "leave-out-departed": "switch" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const bytes = await read(parsePath("file", flags.file));
      return importFile(org, bytes, { leavesOut: flags["leave-out-departed"] !== undefined });
    },
  },
};

const read = async (file: string): Promise<Uint8Array> =>
  readFile(file).catch(() => {
    throw new CommandError(`The file ${file} cannot be read.`);
  });

/** How many entries that are no address of the organization are shown at most: the first. */
const maximumInvalidEntries = 10;

/**
 * Adds the addresses of a file of any length. Monitored addresses are skipped. Addresses of other domains than the
 * organization's are invalid. `leavesOut`: without people who have left, as the file says.
 */
const importFile = async (org: number, bytes: Uint8Array, { leavesOut }: { leavesOut: boolean }) => {
  const { candidates, columns } = extracted(bytes);
  const departed = new Set(columns.departed.map(({ email }) => email));
  const wanted = candidates.filter(({ email }) => !leavesOut || !departed.has(email));
  const { rows, invalid } = await rowsOf(org, wanted);
  const invalidEntries = invalid.slice(0, maximumInvalidEntries);
  if (rows.size === 0) {
    throw new CommandError(
      invalid.length > 0
        ? `No address of the file is of the organization's domains, such as "${invalidEntries[0]}": ` +
            '"domain list" shows the domains.'
        : "Everybody in the file has left, as it says: nothing is imported.",
    );
  }
  const { imported, disabled } = await importAll(org, [...rows.values()], administrator, {
    progress: (done) => showProgress(`${done} of ${rows.size} added`),
  });
  return {
    added: imported,
    disabled,
    skipped: rows.size - imported,
    departed: departed.size,
    invalid: invalid.length,
    ...(invalid.length > 0 && { invalidEntries }),
  };
};

const extracted = (bytes: Uint8Array): ReturnType<typeof extract> => {
  try {
    return extract(bytes, { mostEntries: Number.POSITIVE_INFINITY });
  } catch (error) {
    // Such as "file: is empty".
    if (error instanceof Refusal) throw new CommandError(`The ${error.message.replace(":", "")}.`);
    throw error;
  }
};

type Row = Parameters<typeof importAll>[1][number];

/** Each address once with the id of its domain, and the entries that are no such address. */
const rowsOf = async (
  org: number,
  candidates: readonly Candidate[],
): Promise<{ rows: Map<string, Row>; invalid: string[] }> => {
  const byName = new Map((await domains.list(org)).map((domain) => [domain.name, domain]));
  const rows = new Map<string, Row>();
  const invalid: string[] = [];
  for (const { email: entry, ...about } of candidates) {
    const email = importedAddress.safeParse(entry).data;
    const domain = email === undefined ? undefined : byName.get(domainOf(email));
    if (email === undefined || domain === undefined) {
      invalid.push(entry);
      continue;
    }
    if (!domain.verified) {
      throw new CommandError(
        `The domain ${domain.name} is not verified: "domain verify --org ${org} --domain ` +
          `${domain.id}" says that it is.`,
      );
    }
    // As in a preview, the first entry of an address counts.
    if (!rows.has(email)) rows.set(email, { email, domainId: domain.id, ...about });
  }
  return { rows, invalid };
};
