import { type Email, emails } from "../emails/record.ts";
import { type FindingRecord, findings } from "../findings/record.ts";
import * as domains from "../organizations/domain.ts";
import * as teams from "../organizations/team.ts";
import { absent, condition, exists } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { asRead, type Found, type Look, moving } from "./difference.ts";
import type { FindingIndex, Indexed } from "./finding-index.ts";

/** What an e-mail's row says of its findings. */
type Holding = Pick<Email, "findings" | "unacknowledged" | "gone">;

type Held = { right: Holding; problems: string[] };

/** What an e-mail should say of its findings, by the findings that it names. */
const holdingBy = (row: Holding & { id: number }, findingOf: (id: number) => Indexed | undefined): Held => {
  const right: Holding = { findings: {}, unacknowledged: 0 };
  const problems: string[] = [];
  const gone = new Set<number>();
  for (const [key, id] of Object.entries(row.findings)) {
    const breachId = Number(key);
    const finding = findingOf(id);
    if (finding === undefined) {
      problems.push(`finding ${id} of breach ${breachId} is not there`);
      continue;
    }
    if (finding.emailId !== row.id || finding.breachId !== breachId) {
      problems.push(
        `finding ${id} is of e-mail ${finding.emailId} and breach ${finding.breachId}, not breach ${breachId}`,
      );
      continue;
    }
    right.findings[breachId] = id;
    if (!finding.acknowledged) right.unacknowledged++;
    if (finding.disappeared) gone.add(breachId);
  }
  if (gone.size > 0) right.gone = gone;
  if (right.unacknowledged !== row.unacknowledged) {
    problems.push(`unacknowledged is ${row.unacknowledged}, should be ${right.unacknowledged}`);
  }
  const [are, should] = [listed(row.gone), listed(right.gone)];
  if (are !== should) problems.push(`breaches gone upstream are ${are}, should be ${should}`);
  return { right, problems };
};

const listed = (ids: ReadonlySet<number> | undefined): string =>
  [...(ids ?? [])].sort((one, other) => one - other).join(",") || "none";

/** Whether an e-mail and the findings read before agree; marks those that it holds. */
export const agrees = (row: Holding & { id: number }, index: FindingIndex): boolean => {
  for (const id of Object.values(row.findings)) index.markHeld(id);
  return holdingBy(row, (id) => index.get(id)).problems.length === 0;
};

/** An e-mail's own row follows from its findings' rows. */
export const lookAtHolding =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const before = await emails.get(org, id);
    if (before === undefined) return undefined;
    const rows = await findings.getMany(org, Object.values(before.findings));
    const byId = new Map(rows.map((row) => [row?.id, row]));
    const { right, problems } = holdingBy(before, (each) => indexed(byId.get(each)));
    if (problems.length === 0) return undefined;
    const after = await emails.get(org, id);
    if (after === undefined || !isSameHolding(before, after)) return moving;
    return {
      says: problems.join("; "),
      mend: async () => {
        await table.update(emails.key(org, id), {
          set: { findings: right.findings, unacknowledged: right.unacknowledged, gone: right.gone },
          remove: right.gone === undefined ? ["gone"] : [],
          if: asRead({
            findings: before.findings,
            unacknowledged: before.unacknowledged,
            gone: before.gone,
            facet: before.facet,
          }),
        });
      },
    };
  };

const indexed = (row: FindingRecord | undefined): Indexed | undefined =>
  row && {
    emailId: row.emailId,
    breachId: row.breachId,
    acknowledged: findings.facetOf(row).acknowledged,
    disappeared: row.lastSeenAt !== undefined,
  };

const isSameHolding = (one: Holding, other: Holding): boolean =>
  JSON.stringify(one.findings) === JSON.stringify(other.findings) &&
  one.unacknowledged === other.unacknowledged &&
  listed(one.gone) === listed(other.gone);

/** The row that makes an address unique names its e-mail. */
export const lookAtAddress =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const email = await emails.get(org, id);
    if (email === undefined) return undefined;
    const key = keys.address(org, email.email);
    const address = await table.get<{ emailId: number }>(key);
    if (address?.emailId === id) return undefined;
    const isThere = { check: emails.key(org, id), if: exists };
    if (address === undefined) {
      return {
        says: "its address row is not there",
        mend: () => table.transact([isThere, { put: { ...key, emailId: id }, if: absent }]),
      };
    }
    const { emailId } = address;
    const other = await emails.get(org, emailId);
    const says = `its address row names e-mail ${emailId}`;
    if (other?.email === email.email) {
      return { says, advice: `E-mails ${emailId} and ${id} are one address: remove one of them.` };
    }
    return {
      says,
      mend: () => table.transact([isThere, { update: key, set: { emailId: id }, if: asRead({ emailId }) }]),
    };
  };

/** An e-mail's domain, and its team if it has one, are there. */
export const lookAtOwners =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const email = await emails.get(org, id);
    if (email === undefined) return undefined;
    const { domainId, teamId } = emails.facetOf(email);
    const [domain, team] = await Promise.all([
      domains.get(org, domainId),
      teamId === null ? undefined : teams.get(org, teamId),
    ]);
    const problems = [
      ...(domain === undefined ? [`its domain ${domainId} is not there`] : []),
      ...(teamId !== null && team === undefined ? [`its team ${teamId} is not there`] : []),
    ];
    if (problems.length === 0) return undefined;
    return {
      says: problems.join("; "),
      advice: "Restore the missing row from a backup of the table, or remove the e-mail.",
    };
  };

/** A finding that no e-mail was seen to hold. */
export const lookAtUnheld =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined) return undefined;
    const { emailId, breachId } = row;
    const [email, removal, address] = await Promise.all([
      emails.get(org, emailId),
      table.get<{ findings: number[] }>(keys.removal(org, emailId)),
      table.get<{ emailId: number }>(keys.address(org, row.email)),
    ]);
    const heldId = email?.findings[breachId];
    if (heldId === id || removal?.findings.includes(id)) return undefined;
    // Rows that go together were read one after another.
    if ((await findings.get(org, id)) === undefined) return undefined;

    const facet = findings.facetOf(row);
    const remove = findings.delete(org, id, facet);
    if (email === undefined) {
      const says = `its e-mail ${emailId} is not there`;
      if (address?.emailId === emailId) {
        return {
          says: `${says}, but its address row is`,
          advice: `The row of e-mail ${emailId} is lost: restore it from a backup of the table.`,
        };
      }
      return {
        says,
        mend: () =>
          table.transact([
            { check: emails.key(org, emailId), if: absent },
            ...findings.writes(org, [remove]),
          ]),
      };
    }
    if (heldId !== undefined) {
      return {
        says: `e-mail ${emailId} has another finding of breach ${breachId}: ${heldId}`,
        mend: () =>
          table.transact([
            {
              check: emails.key(org, emailId),
              if: condition(`#findings.#${breachId} = :held`, { held: heldId }),
            },
            { check: findings.key(org, heldId), if: exists },
            ...findings.writes(org, [remove]),
          ]),
      };
    }
    return {
      says: `e-mail ${emailId} does not hold it`,
      mend: () =>
        table.transact([
          {
            update: emails.key(org, emailId),
            set: { [`findings.${breachId}`]: id },
            add: {
              unacknowledged: facet.acknowledged ? 0 : 1,
              gone: new Set(row.lastSeenAt === undefined ? [] : [breachId]),
            },
            if: condition(`attribute_not_exists(#findings.#${breachId})`),
          },
          {
            check: findings.key(org, id),
            if: asRead({ facet: row.facet, lastSeenAt: row.lastSeenAt }),
          },
        ]),
    };
  };
