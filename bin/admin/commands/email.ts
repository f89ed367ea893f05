import { readFile } from "node:fs/promises";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { domainOf } from "../../../shared/contract/address.ts";
import * as domains from "../../../shared/monitoring/domains/domain.ts";
import { importAll } from "../../../shared/monitoring/imports/commit.ts";
import { importedAddress } from "../../../shared/monitoring/imports/import-schema.ts";
import type { Commands } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, parsePath } from "../flags.ts";
import { showProgress } from "../progress.ts";

export const emailCommands: Commands = {
  "email import": {
    about: "Adds the addresses of a file, one address a line.",
    flags: { org: "required ID", file: "required FILE" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return importEmails(org, await readText(parsePath("file", flags.file)));
    },
  },
};

const readText = async (file: string): Promise<string> => {
  return readFile(file, "utf8").catch(() => {
    throw new CommandError(`The file ${file} cannot be read.`);
  });
};

/** How many invalid lines are named at most: the first. */
const maximumInvalidLines = 10;

/**
 * Adds the addresses of a text, one a line. Monitored addresses are skipped; addresses of other domains than
 * the organization's are invalid. The import preview cannot do it: 500 addresses at most, and no line
 * numbers.
 */
const importEmails = async (org: number, text: string) => {
  const { rows, invalid } = await readAddresses(org, text);
  const invalidLines = invalid.slice(0, maximumInvalidLines);
  if (rows.size === 0) {
    throw new CommandError(
      invalid.length === 0
        ? "The file is empty: give one address a line."
        : "No line of the file is an address of the organization's domains, such as line " +
            `${invalidLines[0]}: give one address a line and nothing else.`,
    );
  }
  const { imported, disabled } = await importAll(
    org,
    [...rows].map(([email, domainId]) => ({ email, domainId })),
    administrator,
    { progress: (done) => showProgress(`${done} of ${rows.size} added`) },
  );
  return {
    added: imported,
    disabled,
    skipped: rows.size - imported,
    invalid: invalid.length,
    ...(invalid.length > 0 && { invalidLines }),
  };
};

/** Each address once with the id of its domain, and the numbers of the lines that are no such address. */
const readAddresses = async (
  org: number,
  text: string,
): Promise<{ rows: Map<string, number>; invalid: number[] }> => {
  const byName = new Map((await domains.list(org)).map((domain) => [domain.name, domain]));
  const rows = new Map<string, number>();
  const invalid: number[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const email = importedAddress.safeParse(line.trim()).data;
    const domain = email === undefined ? undefined : byName.get(domainOf(email));
    if (email === undefined || domain === undefined) {
      invalid.push(index + 1);
      continue;
    }
    if (!domain.verified) {
      throw new CommandError(
        `The domain ${domain.name} is not verified: "domain verify --org ${org} --domain ` +
          `${domain.id}" says that it is.`,
      );
    }
    rows.set(email, domain.id);
  }
  return { rows, invalid };
};
