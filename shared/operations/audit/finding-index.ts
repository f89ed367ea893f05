import type { FindingRecord } from "../../findings/record.ts";
import { findings } from "../../findings/record.ts";

/** What an e-mail must agree with. */
export type IndexedFinding = {
  emailId: number;
  breachId: number;
  acknowledged: boolean;
  groupKey: string;
  disappeared: boolean;
};

const acknowledgedFlag = 1;
const disappearedFlag = 2;
const heldFlag = 4;

/**
 * The findings of an organization in memory, so that the audit reads each row once. A finding takes 25 bytes,
 * a million of them 25 MB. Findings must be added in the order of their ids.
 */
export class FindingIndex {
  #size = 0;
  #ids = new Float64Array(1024);
  #emailIds = new Float64Array(1024);
  #breachIds = new Uint32Array(1024);
  #flags = new Uint8Array(1024);
  /** Places in `#groupKeys`. */
  #groups = new Uint32Array(1024);
  #groupKeys: string[] = [];
  #placeOfGroup = new Map<string, number>();

  add(row: Pick<FindingRecord, "id" | "group" | "emailId" | "breachId" | "lastSeenAt">): void {
    if (this.#size === this.#ids.length) this.#grow();
    const at = this.#size++;
    this.#ids[at] = row.id;
    this.#emailIds[at] = row.emailId;
    this.#breachIds[at] = row.breachId;
    this.#groups[at] = this.#groupPlace(row.group);
    this.#flags[at] =
      (findings.groupOf(row).acknowledged ? acknowledgedFlag : 0) |
      (row.lastSeenAt === undefined ? 0 : disappearedFlag);
  }

  get(id: number): IndexedFinding | undefined {
    const at = this.#find(id);
    if (at < 0) return undefined;
    const flags = this.#flags[at] ?? 0;
    return {
      emailId: this.#emailIds[at] ?? 0,
      breachId: this.#breachIds[at] ?? 0,
      acknowledged: (flags & acknowledgedFlag) !== 0,
      groupKey: this.#groupKeys[this.#groups[at] ?? 0] ?? "",
      disappeared: (flags & disappearedFlag) !== 0,
    };
  }

  idsByBreach(): Map<number, number[]> {
    const ids = new Map<number, number[]>();
    for (let at = 0; at < this.#size; at++) {
      const breachId = this.#breachIds[at] ?? 0;
      const ofBreach = ids.get(breachId);
      if (ofBreach === undefined) ids.set(breachId, [this.#ids[at] ?? 0]);
      else ofBreach.push(this.#ids[at] ?? 0);
    }
    return ids;
  }

  /** Notes that the e-mail of a finding holds it. */
  markHeld(id: number): void {
    const at = this.#find(id);
    if (at >= 0) this.#flags[at] = (this.#flags[at] ?? 0) | heldFlag;
  }

  /** The ids of the findings that no e-mail holds. */
  *unheld(): Generator<number> {
    for (let at = 0; at < this.#size; at++) {
      if (((this.#flags[at] ?? 0) & heldFlag) === 0) yield this.#ids[at] ?? 0;
    }
  }

  #find(id: number): number {
    let low = 0;
    let high = this.#size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#ids[middle] ?? 0;
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  #groupPlace(groupKey: string): number {
    let place = this.#placeOfGroup.get(groupKey);
    if (place === undefined) {
      place = this.#groupKeys.push(groupKey) - 1;
      this.#placeOfGroup.set(groupKey, place);
    }
    return place;
  }

  #grow(): void {
    const length = this.#ids.length * 2;
    const grown = <A extends { set: (from: A) => void }>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    this.#ids = grown(this.#ids, new Float64Array(length));
    this.#emailIds = grown(this.#emailIds, new Float64Array(length));
    this.#breachIds = grown(this.#breachIds, new Uint32Array(length));
    this.#flags = grown(this.#flags, new Uint8Array(length));
    this.#groups = grown(this.#groups, new Uint32Array(length));
  }
}
