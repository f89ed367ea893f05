import type { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { type Delivery, deliveries } from "../../../shared/alerting/deliveries/delivery.ts";
import { dueIndex, dueShardsOf, keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { type Clock, hour, startedAt } from "./clock.ts";
import { functionTimeout } from "./invocations.ts";

/** What the simulation knows of a delivery, independently of the product. */
export type Witness = {
  id: number;
  channel: string;
  /** The text of its event. */
  error: string;
  /** A status, or `gone`. */
  label: string;
  attempts: number;
  posts: number;
  timestamps: Set<string>;
  accepted: boolean;
  hasOpenPost: boolean;
  /** Workers that were started for it. */
  invocations: number;
  handRetries: number;
};

const legalNext: Record<string, readonly string[]> = {
  pending: ["pending", "retrying", "delivered", "not delivered", "gone"],
  retrying: ["retrying", "delivered", "not delivered", "gone"],
  delivered: ["delivered", "gone"],
  "not delivered": ["not delivered", "gone"],
  gone: ["gone"],
};

/** Watches every delivery of an organization from outside, and collects what must not have happened. */
export class Witnesses {
  readonly violations: string[] = [];
  /** The organization of the simulation. */
  org = 0;
  /** Channel id → name. */
  readonly channelNames = new Map<number, string>();
  readonly #clock: Clock;
  readonly #byId = new Map<number, Witness>();
  #firstId = 0;
  #removedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: number): Witness | undefined {
    return this.#byId.get(id);
  }

  /** All witnesses in the order of their ids. */
  all(): Witness[] {
    return [...this.#byId.values()].sort((a, b) => a.id - b.id);
  }

  /** The place of a delivery in its organization: equal in every run, while ids are not. */
  ordinalOf(id: number): number {
    return id - this.#firstId;
  }

  /** Notes the deliveries that a transaction has created, and when it removed the channel `removed`. */
  record(command: TransactWriteCommand): void {
    for (const { Put, Delete } of command.input.TransactItems ?? []) {
      if (Delete?.Key?.pk === keys.channel(this.org, 0).pk) this.#removedAt ??= this.#clock.now;
      const row = Put?.Item as (Delivery & { event: { error: string } }) | undefined;
      if (row?.event === undefined || this.#byId.has(row.id)) continue;
      if (this.#firstId === 0) this.#firstId = row.id;
      this.#byId.set(row.id, {
        id: row.id,
        channel: this.channelNames.get(deliveries.groupOf(row).channelId) ?? "",
        error: row.event.error,
        label: "pending",
        attempts: 0,
        posts: 0,
        timestamps: new Set(),
        accepted: false,
        hasOpenPost: false,
        invocations: 0,
        handRetries: 0,
      });
    }
  }

  /** Checks a post that has just arrived. */
  checkPost(
    witness: Witness,
    { path, timestamp, error }: Record<"path" | "timestamp" | "error", string>,
  ): void {
    witness.posts++;
    if (witness.hasOpenPost) this.#violate(witness, "two posts at once");
    if (witness.timestamps.has(timestamp)) this.#violate(witness, "two posts with one timestamp");
    if (error !== witness.error || path !== `/${witness.channel}`) this.#violate(witness, "wrong event");
    if (
      witness.channel === "removed" &&
      this.#removedAt !== undefined &&
      this.#clock.now > this.#removedAt + functionTimeout
    ) {
      this.#violate(witness, "a post to a removed channel");
    }
    witness.timestamps.add(timestamp);
  }

  /** Checks whether a row that was just written may follow from the delivery's state before. */
  checkRow(witness: Witness, row: Delivery | undefined, isByHand: boolean): void {
    const before = witness.label;
    const label = row === undefined ? "gone" : row.status;
    const isReopened = isByHand && before === "not delivered" && label === "retrying";
    if (isReopened) witness.handRetries++;
    else if (!legalNext[before]?.includes(label)) this.#violate(witness, `${before} became ${label}`);
    witness.label = label;
    if (row === undefined) {
      if (this.#removedAt === undefined || witness.channel !== "removed") this.#violate(witness, "lost");
      return;
    }
    if (row.attempts < witness.attempts) this.#violate(witness, "attempts were forgotten");
    if (row.attempts > 30 + 3 * witness.handRetries) this.#violate(witness, `${row.attempts} attempts`);
    if (witness.posts > row.attempts) {
      this.#violate(witness, `${witness.posts} posts in ${row.attempts} attempts`);
    }
    witness.attempts = row.attempts;
    const isOver = label === "delivered" || label === "not delivered";
    if (isOver !== (row.dueAt === undefined) || isOver !== (row.dueShard === undefined)) {
      this.#violate(witness, `${label}, due ${row.dueAt}`);
    }
    if (label === "delivered" && !witness.accepted) {
      this.#violate(witness, "delivered, but nobody accepted it");
    }
    const mayBeGivenUp = row.attempts >= 30 || row.failureReason === "channel was disabled";
    if (label === "not delivered" && !mayBeGivenUp) {
      this.#violate(witness, `given up after ${row.attempts} attempts`);
    }
    if (row.failedAttempts > row.attempts) this.#violate(witness, "more failed attempts than attempts");
  }

  /** Whether every delivery is delivered or given up. */
  async areSettled(): Promise<boolean> {
    const directory = await deliveries.directory(this.org);
    const rows = await this.#rowsIn(deliveries.blocks(directory));
    return rows.every(({ status }) => status === "delivered" || status === "not delivered");
  }

  /** Checks every row, the counters of the directory and the due index once nothing happens any more. */
  async checkEnd(): Promise<void> {
    const directory = await deliveries.directory(this.org);
    const rows = await this.#rowsIn(directory.map(({ block }) => block));
    this.#checkFinalRows(rows);
    const groupKeys = new Set([
      ...directory.flatMap(({ counts }) => [...counts.keys()]),
      ...rows.map((row) => row.group),
    ]);
    for (const groupKey of groupKeys) {
      const counters = directory.reduce((sum, { counts }) => sum + (counts.get(groupKey) ?? 0), 0);
      const members = rows.filter((row) => row.group === groupKey).length;
      if (counters !== members) {
        this.violations.push(`${counters} counted of ${groupKey}, where ${members} are`);
      }
    }
    for (const shard of dueShardsOf("DELIVERY")) {
      const due = await table.query<{ pk: string }>({ index: dueIndex, pk: shard });
      const own = due.filter(({ pk }) => pk.startsWith(`ORG#${this.org}#`));
      if (own.length > 0) this.violations.push(`${own.length} deliveries are still due`);
    }
  }

  #checkFinalRows(rows: readonly Delivery[]): void {
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const witness of this.#byId.values()) {
      this.checkRow(witness, byId.get(witness.id), false);
      if (witness.channel === "removed") {
        if (witness.label !== "gone") this.#violate(witness, "history of a removed channel");
      } else if (witness.label === "pending" || witness.label === "retrying") {
        this.#violate(witness, "never settled");
      }
    }
    for (const { id } of rows) {
      if (!this.#byId.has(id)) this.violations.push(`Delivery ${id} from nowhere`);
    }
  }

  async #rowsIn(blocks: readonly number[]): Promise<Delivery[]> {
    return (await Promise.all(blocks.map((block) => deliveries.members(this.org, block)))).flat();
  }

  #violate(witness: Witness, what: string): void {
    const hours = ((this.#clock.now - startedAt) / hour).toFixed(2);
    this.violations.push(
      `${what} (delivery ${this.ordinalOf(witness.id)} of "${witness.channel}", hour ${hours})`,
    );
  }
}
