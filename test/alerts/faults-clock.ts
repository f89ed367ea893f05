/** Virtual time passes in steps of this many milliseconds; what is due at one step runs side by side, each lane for itself. */
export const tick = 500;

/** Lanes at work at the same time. */
const width = 32;

/** The lane of what concerns more than one delivery: it runs alone, before the others. */
export const common = "common";

/** From 0 to below 1; depends on nothing but the seed and the name. */
export type Draw = (name: string) => number;

export const drawing =
  (seed: string): Draw =>
  (name) => {
    // FNV-1a, then the finish of MurmurHash3: a cryptographic one takes a tenth of a simulation's time.
    let hash = 0x811c9dc5;
    const text = `${seed}/${name}`;
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
  };

type Action = { lane: string; act: () => Promise<void> };

/** Does things at their virtual time: those of one lane one after the other. */
export class Clock {
  now: number;
  private readonly due = new Map<number, Action[]>();

  constructor(startsAt: number) {
    this.now = startsAt;
  }

  at(time: number, lane: string, act: () => Promise<void>): void {
    const step = Math.ceil(Math.max(time, this.now) / tick) * tick;
    const actions = this.due.get(step);
    if (actions === undefined) this.due.set(step, [{ lane, act }]);
    else actions.push({ lane, act });
  }

  /** When something is to be done next; Infinity when nothing is. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const time of this.due.keys()) if (time < next) next = time;
    return next;
  }

  /** Does all that is due now, and what becomes due now by that. */
  async runDue(): Promise<void> {
    for (let due = this.take(); due !== undefined; due = this.take()) {
      const lanes = new Map<string, Action[]>();
      for (const action of due) {
        if (action.lane === common) await action.act();
        else lanes.set(action.lane, [...(lanes.get(action.lane) ?? []), action]);
      }
      const waiting = [...lanes.values()];
      const work = async (): Promise<void> => {
        for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift()) {
          for (const { act } of lane) await act();
        }
      };
      await Promise.all(Array.from({ length: Math.min(width, waiting.length) }, work));
    }
  }

  private take(): Action[] | undefined {
    const actions = this.due.get(this.now);
    this.due.delete(this.now);
    return actions;
  }
}
