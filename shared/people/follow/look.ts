/** What has to be known to follow directories: of an organization, and of each address. */
import { activeCount } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { teamName } from "../../access/organizations/organization-schema.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import type { Domain } from "../../monitoring/domains/domain.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import * as directories from "../directory.ts";
import { groups } from "../group.ts";
import type { NamedAddress, Naming } from "./address.ts";
import type { DirectoryLog } from "./log.ts";
import { namingsOf, readNamed } from "./named.ts";
import { keyOf, type Task } from "./task.ts";

/** `isWaitedFor`: addresses wait for seats. `active`: how many e-mails are. */
export type Known = {
  organization: organizations.Organization;
  connected: readonly directories.Directory[];
  log: DirectoryLog | undefined;
  isWaitedFor: boolean;
  active: number;
};

/** What is known of one address. */
export type Look = {
  email: string;
  row: (NamedAddress & Key) | undefined;
  namings: Naming[];
  /** A directory that was disconnected has named it. */
  isForgotten: boolean;
  /** Names of people that nothing needs any more. */
  strays: Key[];
  task: Task | undefined;
  domain: Domain | undefined;
  watched: Email | undefined;
};

export const knownOf = async (org: number): Promise<Known> => {
  const [organization, connected, log, waiting, active] = await Promise.all([
    organizations.existing(org),
    directories.rows(org),
    table.get<DirectoryLog>(keys.directoryLog(org)),
    table.get(keyOf(org, "SEATS", "first")),
    activeCount(org),
  ]);
  return {
    organization,
    connected,
    log,
    isWaitedFor: waiting !== undefined,
    active,
  };
};

export const lookAt = async (org: number, email: string, { connected }: Known): Promise<Look> => {
  const name = domainOf(email);
  const [{ row, ofPeople }, ownTask, domainName, address] = await Promise.all([
    readNamed(org, email),
    table.get<Task>(keyOf(org, "ADDRESS", email)),
    table.get<{ id: number }>(keys.domainName(org, name)),
    table.get<{ emailId: number }>(keys.address(org, email)),
  ]);
  const [namings, domain, watched] = await Promise.all([
    namingsOf(org, ofPeople, connected),
    domainName && table.get<Domain>(keys.domain(org, domainName.id)),
    address && emails.get(org, address.emailId),
  ]);
  return {
    email,
    row,
    namings,
    isForgotten: namings.length < ofPeople.length,
    // Without an e-mail there is no finding to explain by who left.
    strays: watched === undefined ? ofPeople.filter(({ leftAt }) => leftAt !== undefined) : [],
    task: ownTask,
    domain,
    watched,
  };
};

/** The team of a person, as its directory says where teams come from. */
export const teamsBy = async (org: number, looks: readonly Look[]) => {
  const ids = looks.flatMap(({ namings }) =>
    namings.flatMap(({ directory, person }) =>
      directory.teamFrom === "group" ? [...(person?.groups ?? [])] : [],
    ),
  );
  const rows = await groups.getMany(org, [...new Set(ids)]);
  const names = new Map(
    rows.flatMap((row) => (row === undefined ? [] : [[row.id, row.displayName] as const])),
  );
  return ({ directory, person }: Naming): string | null | undefined => {
    if (directory.teamFrom === "none") return undefined;
    const name =
      directory.teamFrom === "department"
        ? person?.user.department
        : [...(person?.groups ?? [])].flatMap((id) => names.get(id) ?? []).sort()[0];
    return teamName.safeParse(name).data ?? null;
  };
};
