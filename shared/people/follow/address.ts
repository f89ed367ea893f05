/** What directories say of an address, and what it is to be: pure, so that any history can be tried. */
import { personName } from "../../access/organizations/organization-schema.ts";
import type { Person as Facts } from "../../monitoring/emails/record.ts";
import type { Directory } from "../directory.ts";
import { nameOf, ownerNameOf, type Person } from "../person.ts";
import type { Deed } from "./log.ts";

/** What directories have made of an address so far. Its row has a `mark` that each transaction replaces. */
export type NamedAddress = {
  mark: string;
  /** What directories said last, as far as it was carried out. Absent: nothing yet. */
  isActive?: boolean;
  ownerName?: string | null;
  team?: string | null;
  /** Directories have disabled the e-mail, and may enable it again. */
  disabledHere?: true;
  /** Since when the address waits for a seat (ISO 8601). */
  waitsSince?: string;
  /** Directories for which it counts among the addresses of other domains. */
  outside?: Set<number>;
  /** The latest changes, newest first. */
  history?: { at: string; did: Deed }[];
};

/** That a person of a directory has the address, or had it when it left. */
export type Naming = {
  directory: Directory;
  person: Person | undefined;
  /** Of a deleted person: since when, and its name. */
  leftAt?: string | undefined;
  name?: string | undefined;
};

/** `team`: its name; undefined where the directory gives no teams. */
export type Said = {
  isActive: boolean;
  directoryId: number;
  ownerName: string | null;
  team: string | null | undefined;
  facts: Facts;
};

const isActive = ({ person }: Naming): boolean => person?.user.active === true;

/** Those who are active come first, then those whose directory was connected first. */
export const inOrder = (one: Naming, other: Naming): number =>
  Number(isActive(other)) - Number(isActive(one)) ||
  one.directory.id - other.directory.id ||
  (one.person?.id ?? Number.POSITIVE_INFINITY) - (other.person?.id ?? Number.POSITIVE_INFINITY);

const nameIn = ({ person, name }: Naming): string | undefined =>
  person === undefined ? name : nameOf(person.user);

export const latest = (times: readonly (string | undefined)[]): string | undefined =>
  times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);

/**
 * What directories say together; undefined if none names the address. `before`: the facts so far. `teamOf`: the
 * team of a person by its directory's rule.
 */
export const saidOf = (
  namings: readonly Naming[],
  before: Facts | undefined,
  teamOf: (naming: Naming) => string | null | undefined,
  now: string,
): Said | undefined => {
  const [first, ...others] = namings.toSorted(inOrder);
  if (first === undefined) return undefined;
  const all = [first, ...others];
  const active = all.filter(isActive);
  const areDeleted = all.every(({ person }) => person === undefined);
  const leftAt = before?.leftAt ?? (areDeleted ? latest(all.map((each) => each.leftAt)) : undefined) ?? now;
  const passwordChangedAt =
    latest(all.map(({ person }) => person?.user.passwordChangedAt)) ??
    // Who was deleted says nothing more, and takes nothing back.
    (areDeleted ? before?.passwordChangedAt : undefined);
  const isPrivileged = active.some(({ person }) => person?.user.privileged === true);
  return {
    isActive: active.length > 0,
    directoryId: Math.min(...all.map(({ directory }) => directory.id)),
    ownerName: first.person === undefined ? null : ownerNameOf(first.person.user),
    team: teamOf(first),
    facts: {
      // Sentences go into messages, where a link would be one.
      name: personName.safeParse(nameIn(first) ?? before?.name).data ?? "",
      directory: first.directory.name,
      ...(active.length === 0 && { leftAt }),
      ...(passwordChangedAt !== undefined && { passwordChangedAt }),
      ...(isPrivileged && { isPrivileged: true }),
    },
  };
};

/** What an address's row says of what was carried out. */
type Carried = Pick<NamedAddress, "isActive" | "ownerName" | "team" | "disabledHere">;

/** What the e-mail is to become: fields that stay are missing. */
export type Decision = {
  add?: true;
  /** Wants a seat. */
  enable?: true;
  disable?: true;
  ownerName?: string;
  /** The name of a team; null: none. */
  team?: string | null;
  named: Carried;
};

/**
 * What follows of what directories say. `email`: whether the address is watched, and enabled. `isVerified`: whether
 * its domain is a verified one of the organization. `said` undefined: no directory names the address any more.
 */
export const decide = (
  said: Said | undefined,
  named: Carried & Pick<NamedAddress, "waitsSince">,
  email: { isActive: boolean } | undefined,
  isVerified: boolean,
): Decision => {
  const { waitsSince, ...kept } = named;
  if (said === undefined || !said.isActive) {
    const isNews = named.isActive !== false && (named.isActive !== undefined || said !== undefined);
    const isDisabled = email?.isActive === true && isNews;
    return {
      ...(isDisabled && { disable: true }),
      named: {
        ...kept,
        ...((said !== undefined || named.isActive !== undefined) && { isActive: false }),
        // It was to be enabled, and waited.
        ...((isDisabled || waitsSince !== undefined) && { disabledHere: true }),
      },
    };
  }
  const { ownerName, team } = said;
  const isRenamed = ownerName !== (named.ownerName ?? null) && ownerName !== null;
  const isMoved = team !== undefined && team !== (named.team ?? null);
  const told = { ownerName, ...(team !== undefined && { team }) };
  if (email === undefined) {
    // Who removes an address by hand removes it until the directory says anew that its person is active.
    const isRemoved = named.isActive === true;
    if (isRemoved) return { named: { ...kept, ...told } };
    if (!isVerified) return { named: kept };
    return {
      add: true,
      ...(ownerName !== null && { ownerName }),
      ...(team != null && { team }),
      named: { ...told, isActive: true },
    };
  }
  const isBack = named.isActive === false && named.disabledHere === true;
  const wantsSeat = (isBack || waitsSince !== undefined) && !email.isActive;
  // It stays due until its domain is verified again.
  const isDue = wantsSeat && !isVerified;
  const { disabledHere: _, ...rest } = kept;
  return {
    ...(wantsSeat && isVerified && { enable: true }),
    ...(isRenamed && { ownerName }),
    ...(isMoved && { team }),
    named: { ...rest, ...told, isActive: !isDue, ...(isDue && { disabledHere: true }) },
  };
};
