import type { FindingRecord } from "../findings/record.ts";
import { findings } from "../findings/record.ts";

/** What of a finding its e-mail must agree with. */
export type Indexed = { emailId: number; breachId: number; acknowledged: boolean; disappeared: boolean };

const acknowledgedFlag = 1;
const disappearedFlag = 2;
const heldFlag = 4;

/** Findings in 21 bytes each, so that each row is read once: a million take 21 MB. Added in the order of their ids. */
export class FindingIndex {
  #size = 0;
  #ids = new Float64Array(1024);
  #emailIds = new Float64Array(1024);
  #breachIds = new Uint32Array(1024);
  #flags = new Uint8Array(1024);

  add(row: Pick<FindingRecord, "id" | "facet" | "emailId" | "breachId" | "lastSeenAt">): void {
    if (this.#size === this.#ids.length) this.#grow();
    const at = this.#size++;
    this.#ids[at] = row.id;
    this.#emailIds[at] = row.emailId;
    this.#breachIds[at] = row.breachId;
    this.#flags[at] =
      (findings.facetOf(row).acknowledged ? acknowledgedFlag : 0) |
      (row.lastSeenAt === undefined ? 0 : disappearedFlag);
  }

  get(id: number): Indexed | undefined {
    const at = this.#find(id);
    if (at < 0) return undefined;
    const flags = this.#flags[at] ?? 0;
    return {
      emailId: this.#emailIds[at] ?? 0,
      breachId: this.#breachIds[at] ?? 0,
      acknowledged: (flags & acknowledgedFlag) !== 0,
      disappeared: (flags & disappearedFlag) !== 0,
    };
  }

  /** Notes that its e-mail holds it. */
  markHeld(id: number): void {
    const at = this.#find(id);
    if (at >= 0) this.#flags[at] = (this.#flags[at] ?? 0) | heldFlag;
  }

  /** Findings that no e-mail was seen to hold. */
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
  }
}
