import { asRead, type Change } from "../../aws/table/condition.ts";
import { countedList } from "../../lists/counted-list.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";

export type SubAddress = { email: string; breachCount: number };

/**
 * The stored fields of a monitored e-mail. The row lists the e-mail's breaches and findings. So a scan
 * compares an upstream answer with this row alone, and reads no finding.
 */
export type EmailRow = {
  email: string;
  ownerName: string | null;
  /**
   * Id of a scan: the domain's `plannedByScan` when the e-mail was added or enabled. Scans up to this id
   * leave the e-mail out.
   */
  afterScan: number;
  /** The e-mail's own last check (ISO 8601); the domain's watermark can be later (domains/own-checks.ts). */
  lastScannedAt: string | null;
  /** Id of the scan that checked the e-mail first, if that found anything. */
  firstScan?: number;
  /** Finding ids by breach id. */
  findings: Record<string, number>;
  /** Ids of breaches that have a finding but disappeared upstream. */
  gone?: Set<number>;
  /** Breached sub-addresses, like `ada+shop@` of `ada@`, the most breached first. */
  subAddresses?: SubAddress[];
  /** Id of the latest delivery to the owner, if there was one. */
  ownerDelivery?: number;
  person?: Person;
} & OpenCounts;

/** What directories say of the person behind an address, as rules read it. Absent: none names the address. */
export type Person = {
  /** The display name. */
  name: string;
  /** The name of the directory that said so last. */
  directory: string;
  /**
   * Since when every directory that named the address says that the person is gone (ISO 8601). Absent: the
   * person is active in one.
   */
  leftAt?: string;
  /** The latest that any directory says (ISO 8601). */
  passwordChangedAt?: string;
  isPrivileged?: boolean;
};

/** How many findings are open, by severity as a level (../hibp/severity.ts); 0 where there is none. */
type OpenCounts = { [Level in 1 | 2 | 3 | 4 as `open${Level}`]?: number };

/** Worst first. */
export const openAttributes = ["open4", "open3", "open2", "open1"] as const satisfies (keyof OpenCounts)[];

/** How many findings of an e-mail are not acknowledged. */
export const openCount = (row: OpenCounts): number =>
  openAttributes.reduce((sum, name) => sum + (row[name] ?? 0), 0);

/** The highest severity of an e-mail's open findings, as a level; undefined without any. */
export const worstOpen = (row: OpenCounts): number | undefined => {
  const worst = openAttributes.find((name) => (row[name] ?? 0) > 0);
  return worst && Number(worst.slice("open".length));
};

/** `severity`: a level. */
type OpenState = { acknowledged: boolean; severity: number };

/**
 * What changes of an e-mail's findings add to its row; nothing where no open finding comes, goes or changes
 * its severity.
 */
export const openDifferences = (
  changes: readonly { from?: OpenState | undefined; to?: OpenState | undefined }[],
): Record<string, number> => {
  const differences: Record<string, number> = {};
  const add = (state: OpenState | undefined, by: number): void => {
    if (state === undefined || state.acknowledged) return;
    const name = `open${state.severity}`;
    differences[name] = (differences[name] ?? 0) + by;
  };
  for (const { from, to } of changes) {
    add(from, -1);
    add(to, 1);
  }
  return Object.fromEntries(Object.entries(differences).filter(([, by]) => by !== 0));
};

/** The row of a new e-mail. The transaction that writes it must check `domains.unchanged` for `domain`. */
export const newEmailRow = (
  { email, ownerName }: Pick<EmailRow, "email" | "ownerName">,
  domain: { plannedByScan: number },
): EmailRow => ({
  email,
  ownerName: ownerName || null,
  afterScan: domain.plannedByScan,
  lastScannedAt: null,
  findings: {},
});

/** Whether an e-mail has a finding. Active ones are counted (counts/counts.ts). */
export const isBreached = ({ findings }: Pick<EmailRow, "findings">): boolean =>
  Object.keys(findings).length > 0;

/**
 * `exposure`: as `exposureOf` says of its open findings. `directoryId`: the directory that named the address,
 * the first of several; null: people watch it by hand. `hasLeft`: as `leftAt` of its person says.
 */
export type EmailGroup = {
  domainId: number;
  teamId: number | null;
  isActive: boolean;
  exposure: number;
  directoryId: number | null;
  hasLeft: boolean;
};

/** The group of an e-mail that people watch by hand, and that has no finding. */
export const ofHand = { exposure: 0, directoryId: null, hasLeft: false } as const;

export const emails = countedList<EmailGroup, EmailRow>("EMAIL", {
  domainId: "integer",
  teamId: "integer",
  isActive: "boolean",
  exposure: "integer",
  directoryId: "integer",
  hasLeft: "boolean",
});

export type Email = NonNullable<Awaited<ReturnType<typeof emails.get>>>;

/**
 * How exposed a person is, as a number by which lists go: 0 where nothing is open. Otherwise the first of its
 * two digits is the worst open level. The second tells how many are open: 1 for one, 2 for 2 to 3, 3 for 4 to 7
 * and so on. It is rough, because the list counts each value by itself.
 */
export const exposureOf = (row: OpenCounts): number => {
  const worst = worstOpen(row);
  if (worst === undefined) return 0;
  const binaryDigits = 32 - Math.clz32(openCount(row));
  return 10 * worst + Math.min(binaryDigits, 9);
};

/** What a row says of its open findings, for the condition that it still says so. */
export const openAsRead = (row: OpenCounts): Record<string, number | undefined> =>
  Object.fromEntries(openAttributes.map((name) => [name, row[name]]));

/**
 * The write of an e-mail whose findings change, given its row: counts those that are open, and moves it to its
 * exposure. It fails when its open findings or attributes `read` are not as they were read.
 */
export const changeFindings = (
  org: number,
  row: Pick<Email, "id" | "group"> & OpenCounts,
  changes: Parameters<typeof openDifferences>[0],
  { read, add, ...change }: Omit<Change, "if"> & { read?: Record<string, unknown> } = {},
): MemberWrite => {
  const differences = openDifferences(changes);
  const open = openAttributes.map((name) => [name, (row[name] ?? 0) + (differences[name] ?? 0)]);
  const from = emails.groupOf(row);
  return emails.change(org, row.id, {
    ...change,
    from,
    to: { ...from, exposure: exposureOf(Object.fromEntries(open)) },
    add: { ...add, ...differences },
    if: asRead({ ...openAsRead(row), ...read }),
  });
};
