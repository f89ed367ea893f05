/** What becomes of one address: its writes, and what they count. */
import { randomUUID } from "node:crypto";
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { domainOf } from "../../contract/address.ts";
import * as rules from "../../findings/rules/marks.ts";
import type { Reserved } from "../../lists/blocks.ts";
import { additionOf, changeOf, type EmailWrites, type Named } from "../../monitoring/emails/changes.ts";
import { ownerName as ownerNameSchema } from "../../monitoring/emails/email-schema.ts";
import { emails } from "../../monitoring/emails/record.ts";
import type { Decision, NamedAddress, Said } from "./address.ts";
import type { Deed } from "./log.ts";
import type { Look } from "./look.ts";
import { done as doneWrite } from "./task.ts";

/** How many changes a person's page shows. */
const mostHistory = 20;

/** `reserved`: the id of an e-mail that is to be added. */
type Means = {
  teamId: (name: string) => number | null;
  reserved: Reserved | undefined;
  hasRoom: boolean;
  now: string;
};

export type Outcome = {
  email: EmailWrites | undefined;
  also: Write[];
  deeds: Deed[];
  /** For a seat from now on. */
  waits: boolean;
  /** By how much the addresses of other domains change, by directory. */
  outside: Map<number, number>;
  /** Rules have to look at its findings again. */
  isRechecked: boolean;
};

/** What the e-mail's row says of its person. Undefined: as it does. */
const namedOf = ({ isForgotten, watched }: Look, said: Said | undefined): Named | undefined => {
  if (said !== undefined) return { directoryId: said.directoryId, person: said.facts };
  if (!isForgotten) return undefined;
  // Who has left stays so, since findings may have ended by it.
  const { person } = watched ?? {};
  return { directoryId: null, person: person?.leftAt === undefined ? undefined : person };
};

const differencesOf = (before: ReadonlySet<number>, after: ReadonlySet<number>): Map<number, number> =>
  new Map([
    ...[...before].filter((id) => !after.has(id)).map((id) => [id, -1] as const),
    ...[...after].filter((id) => !before.has(id)).map((id) => [id, 1] as const),
  ]);

/** The writes of the address's row, and of its place among those who wait for a seat. */
const rowWrites = (
  org: number,
  { email, row }: Look,
  named: Omit<NamedAddress, "mark" | "history">,
  deeds: readonly Deed[],
  now: string,
): Write[] => {
  const key = keys.namedAddress(org, domainOf(email), email);
  const asItWas = row === undefined ? absent : asRead({ mark: row.mark });
  const history = [...deeds.map((did) => ({ at: now, did })), ...(row?.history ?? [])].slice(0, mostHistory);
  const isNamed = Object.keys(named).length > 0;
  const put = { ...key, ...named, mark: randomUUID(), ...(history.length > 0 && { history }) };
  const [before, after] = [row?.waitsSince, named.waitsSince];
  return [
    ...(isNamed ? [{ put, if: asItWas }] : row === undefined ? [] : [{ delete: key, if: asItWas }]),
    ...(before === undefined || before === after ? [] : [{ delete: keys.seatWait(org, before, email) }]),
    ...(after === undefined || after === before ? [] : [{ put: keys.seatWait(org, after, email) }]),
  ];
};

export const outcomeOf = (
  org: number,
  look: Look,
  said: Said | undefined,
  decision: Decision,
  { teamId, reserved, hasRoom, now }: Means,
): Outcome => {
  const { email, row, namings, strays, task, domain, watched } = look;
  const { add = false, enable = false, disable = false } = decision;
  const waits = (add || enable) && !hasRoom;
  const ownerName = ownerNameSchema.safeParse(decision.ownerName).data;
  const team = decision.team == null ? decision.team : teamId(decision.team);
  const named = namedOf(look, said);
  const isActive = disable ? false : enable && !waits ? true : undefined;
  const added = { email, ownerName: ownerName ?? null, teamId: team ?? null, isActive: !waits, named };
  const writes =
    add && reserved !== undefined && domain !== undefined
      ? additionOf(org, reserved, added, domain)
      : watched && changeOf(org, watched, { isActive, ownerName, teamId: team, named }, domain);
  // Who is adopted has mostly the directory's name already.
  const isRenamed =
    watched !== undefined &&
    ((ownerName !== undefined && ownerName !== watched.ownerName) ||
      (team !== undefined && team !== emails.groupOf(watched).teamId));
  const deeds: Deed[] = [
    ...(add ? (["added"] as const) : []),
    ...(isActive === true ? (["enabled"] as const) : []),
    ...(isActive === false ? (["disabled"] as const) : []),
    ...(isRenamed ? (["renamed"] as const) : []),
  ];
  const isOutside = said?.isActive === true && watched === undefined && domain?.verified !== true;
  const outside = new Set(isOutside ? namings.map(({ directory }) => directory.id) : []);
  const after = {
    ...decision.named,
    ...(waits && { waitsSince: row?.waitsSince ?? now }),
    ...(outside.size > 0 && { outside }),
  };
  const [was, is] = [watched?.person, named?.person];
  const isRechecked =
    watched !== undefined &&
    named !== undefined &&
    (is?.leftAt !== was?.leftAt || is?.passwordChangedAt !== was?.passwordChangedAt);
  return {
    email: writes,
    also: [
      ...(isRechecked ? rules.recheck(org, watched) : []),
      ...rowWrites(org, look, after, deeds, now),
      ...strays.map(({ pk, sk }): Write => ({ delete: { pk, sk } })),
      ...(task === undefined ? [] : [doneWrite(task)]),
    ],
    deeds,
    waits,
    outside: differencesOf(row?.outside ?? new Set(), outside),
    isRechecked,
  };
};
