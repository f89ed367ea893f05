/**
 * Erases an e-mail address from every row of every organization. Rows about the address are deleted, and
 * texts that mention it are kept without it. It may be interrupted and repeated: each run searches the whole
 * table.
 */
import type { Actor } from "../../access/activity/actor.ts";
import type { User } from "../../access/members/user.ts";
import * as users from "../../access/members/user.ts";
import * as channels from "../../alerting/channels/channel.ts";
import { change as changeChannel } from "../../alerting/channels/configure.ts";
import { remove as removeChannel } from "../../alerting/channels/remove.ts";
import { allOf, asRead, condition, exists, type Item } from "../../aws/table/condition.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import { Refusal } from "../../contract/errors.ts";
import { remove as removeEmail } from "../../findings/email-removal.ts";
import { assign as assignEmail } from "../../monitoring/emails/changes.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import { rename as renameTeam } from "../../monitoring/teams/team.ts";
import { erase as eraseUnwatched, isKept } from "../../monitoring/unwatched/change.ts";
import { forgetPerson } from "../../people/follow/walk.ts";
import { addressesOf, type Person } from "../../people/person.ts";
import { type Mention, mentionOf } from "./mention.ts";

type Row = Key & Item;

/**
 * A row that mentioned the address, and what became of it. `organizationId` is null for rows of the whole deployment.
 */
export type Trace = {
  organizationId: number | null;
  /** As in docs/data-model.md: the word of the row's key behind the organization. */
  kind: string;
  outcome: Outcome;
};
type Outcome = "removed" | "changed" | "found";

type Options = {
  /** Only counts the rows. */
  dryRun: boolean;
  /** Who does it, as the activity log shows it. */
  actor: Actor;
  /** Is called with the number of rows that were read. */
  progress?: (rows: number) => void;
};

/** A round may write what the next has to erase, such as the log entry of a removal. */
const maximumRounds = 6;

/** Gives every trace that was there. Throws when something that mentions the address keeps being written. */
export const erase = async (address: string, options: Options): Promise<Trace[]> => {
  const mention = mentionOf(address);
  const traces: Trace[] = [];
  for (let round = 1; round <= maximumRounds; round++) {
    const rows = await find(address.toLowerCase(), mention, options);
    if (options.dryRun) return rows.map((row) => ({ ...nameOf(row), outcome: "found" }));
    if (rows.length === 0) return traces;
    // Removals delete other rows too, so they come before texts are changed.
    for (const row of rows.toSorted((one, other) => orderOf(one) - orderOf(other))) {
      const outcome = await eraseFrom(row, address, mention, options.actor);
      if (outcome !== undefined) traces.push({ ...nameOf(row), outcome });
    }
  }
  throw new Error("The address keeps coming back: find out who adds it, and erase it again");
};

const find = async (address: string, mention: Mention, { progress = () => {} }: Options): Promise<Row[]> => {
  const rows: Row[] = [];
  let read = 0;
  for await (const page of table.scanPages()) {
    rows.push(...page.filter((row) => mention.isIn(wordsOf(row))));
    // What is kept of unwatched addresses is compressed: the root of a domain stands for all of it.
    for (const { id, name, ...key } of page.filter((row) => kindOf(row) === "DOMAIN")) {
      const isOfDomain = domainOf(address) === name;
      const org = organizationOf(key);
      if (isOfDomain && (await isKept(org, Number(id), address))) rows.push(keys.unwatched(org, Number(id)));
    }
    read += page.length;
    progress(read);
  }
  return rows;
};

/** What a row says: its attributes, and what stands in its key behind the words that tell its kind. */
const wordsOf = ({ pk, sk, ...attributes }: Row): unknown => [
  pk.replace(/^(?:ORG#\d+#)?(?:[A-Z][A-Z-]*#)*/, ""),
  sk,
  attributes,
];

const kindOf = ({ pk, sk }: Key): string => {
  const [first = "", , ofOrganization = sk] = pk.split("#");
  return first === "ORG" ? ofOrganization : first;
};

const nameOf = (row: Row): { organizationId: number | null; kind: string } => {
  const org = organizationOf(row);
  return { organizationId: Number.isNaN(org) ? null : org, kind: kindOf(row) };
};

const removedFirst = ["EMAIL", "PERSON", "USER", "CHANNEL"];
const orderOf = (row: Row): number => (removedFirst.includes(kindOf(row)) ? 0 : 1);

/** Rows about a single address, which mean nothing without it. */
const ofOneAddress = [
  "SESSION",
  "SIGN-IN-LINK",
  "SIGN-IN-MAIL",
  "SIGN-IN-ADDRESS",
  "ADDRESS",
  "RECIPIENT",
  "LIMIT",
  "TEAM-NAME",
  "PERSON-NAME",
  "EXTERNAL-ID",
  "GROUP-NAME",
  "NAMED-ADDRESS",
  "DIRECTORY-TASK",
  "SEAT-WAIT",
];

/** Undefined: the row has changed meanwhile, and is found again in the next round if it still mentions the address. */
const eraseFrom = async (
  row: Row,
  address: string,
  mention: Mention,
  actor: Actor,
): Promise<Outcome | undefined> => {
  const org = organizationOf(row);
  const kind = kindOf(row);
  if (kind === "UNWATCHED") {
    await eraseUnwatched(org, Number(row.sk), address);
    return "removed";
  }
  if (kind === "EMAIL" && isThe(address, row.email)) {
    // The next scan would list it as unwatched.
    await eraseUnwatched(org, emails.groupOf(row as unknown as Email).domainId, address);
    return isDone(removeEmail(org, Number(row.id), actor), "removed", "emailNotFound");
  }
  if (kind === "EMAIL" && mention.isIn(row.subAddresses)) {
    const { id, subAddresses = [] } = row as unknown as Email;
    await eraseUnwatched(org, emails.groupOf(row as unknown as Email).domainId, address);
    const left = subAddresses.filter(({ email }) => !isThe(address, email));
    const change = { set: { subAddresses: left }, if: asRead({ subAddresses }) };
    return outcomeOf(await table.attempt(table.update(emails.key(org, id), change)), "changed");
  }
  if (kind === "EMAIL" && mention.isIn(row.ownerName)) {
    // With the words by which the name is found.
    const ownerName = mention.replaced(String(row.ownerName));
    return isDone(assignEmail(org, Number(row.id), { ownerName }, actor), "changed", "emailNotFound");
  }
  // The directory has to forget the person first: its next request would bring them back.
  if (kind === "PERSON" && addressesOf((row as unknown as Person).user).includes(address.toLowerCase()))
    return outcomeOf(await table.attempt(forgetPerson(org, row as unknown as Person)), "removed");
  if (kind === "USER" && isThe(address, row.email)) return eraseUser(org, row as unknown as User & Key);
  if (kind === "CHANNEL") {
    // Somebody may have added a recipient since the row was read.
    const channel = await channels.get(org, Number(row.id));
    const recipients = channel === undefined ? [] : channels.recipientsOf(channel);
    if (recipients.some((each) => isThe(address, each)))
      return eraseRecipient(org, Number(row.id), { address, recipients, actor });
  }
  if (kind === "TEAM") {
    // With the row of its name, which no other team can have.
    const name = `${mention.replaced(String(row.name))} ${row.id}`;
    return isDone(renameTeam(org, Number(row.id), name, actor), "changed", "teamNotFound");
  }
  if (ofOneAddress.includes(kind) || (kind === "NOTICE" && isThe(address, row.email))) {
    // The row of a claim names its holder: the address may be somebody's again since it was read.
    const holder = ["id", "userId"].find((name) => row[name] !== undefined);
    const asRead = holder === undefined ? undefined : condition("#holder = :holder", { holder: row[holder] });
    const removal = table.remove(row, asRead && { ...asRead, names: { holder: String(holder) } });
    return outcomeOf(await table.attempt(removal), "removed");
  }
  return eraseText(row, mention);
};

const isThe = (address: string, value: unknown): boolean =>
  typeof value === "string" && value.toLowerCase() === address.toLowerCase();

const isDone = async (
  act: Promise<unknown>,
  outcome: Outcome,
  gone: string,
): Promise<Outcome | undefined> => {
  try {
    await act;
    return outcome;
  } catch (error) {
    if (error instanceof Refusal && error.refusal === gone) return undefined;
    throw error;
  }
};

/** The row of a removed user stays, so that findings and the log still say that it was a user; it names nobody. */
const eraseUser = async (org: number, user: User & Key): Promise<Outcome | undefined> => {
  await users.remove(org, user.id, { force: true });
  const { written } = await table.attempt(
    table.update(user, {
      set: { email: `erased-${user.id}@erased.invalid`, name: null },
      if: condition("#email = :email AND #removed = :yes", { email: user.email, yes: true }),
    }),
  );
  return written ? "removed" : undefined;
};

/** A channel without its last recipient is of no use. */
const eraseRecipient = async (
  org: number,
  id: number,
  { address, recipients, actor }: { address: string; recipients: readonly string[]; actor: Actor },
): Promise<Outcome | undefined> => {
  const recipientsLeft = recipients.filter((each) => !isThe(address, each));
  if (recipientsLeft.length === 0) return isDone(removeChannel(org, id, actor), "removed", "channelNotFound");
  const patch = { config: { recipients: recipientsLeft } };
  return isDone(
    changeChannel(org, id, patch, actor, async () => {}),
    "changed",
    "channelNotFound",
  );
};

/** Replaces the address in all attributes that mention it, on the condition that they are as they were read. */
const eraseText = async (row: Row, mention: Mention): Promise<Outcome | undefined> => {
  const { pk, sk, ...attributes } = row;
  const mentioning = Object.entries(attributes).filter(([, value]) => mention.isIn(value));
  if (mentioning.length === 0) {
    throw new Error(
      `The key of a row of kind ${kindOf(row)} mentions the address, and nothing here removes it`,
    );
  }
  const change = table.update(
    { pk, sk },
    {
      set: Object.fromEntries(mentioning.map(([name, value]) => [name, mention.replaced(value)])),
      if: allOf(
        exists,
        ...mentioning.map(([name, value]) => condition(`#${name} = :${name}`, { [name]: value })),
      ),
    },
  );
  return outcomeOf(await table.attempt(change), "changed");
};

/** A row that is not there any more has gone with another one. */
const outcomeOf = (attempt: table.Attempt<unknown>, outcome: Outcome): Outcome | undefined => {
  if (attempt.written) return outcome;
  return attempt.failed[0]?.item === undefined ? "removed" : undefined;
};
