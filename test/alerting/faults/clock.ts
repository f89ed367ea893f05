/** Virtual time, in milliseconds. */
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

/** When every simulation begins. */
export const startedAt = Date.UTC(2030, 0, 1);

/** Virtual time passes in steps of this length. Lanes that are due at the same step run side by side. */
export const tick = 500;

/** Lanes that run at the same time. */
const concurrency = 32;

/** The lane of everything that concerns more than one delivery: it runs alone, before the others. */
export const common = "common";

type Action = { lane: string; act: () => Promise<void> };

/** Runs actions at their virtual time; the actions of one lane run one after the other. */
export class Clock {
  now = startedAt;
  private readonly due = new Map<number, Action[]>();

  at(time: number, lane: string, act: () => Promise<void>): void {
    const step = Math.ceil(Math.max(time, this.now) / tick) * tick;
    const actions = this.due.get(step);
    if (actions === undefined) this.due.set(step, [{ lane, act }]);
    else actions.push({ lane, act });
  }

  /** The time of the next action; Infinity when there is none. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const time of this.due.keys()) if (time < next) next = time;
    return next;
  }

  /** Runs every action that is due now, and those that these actions make due now. */
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
      await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, work));
    }
  }

  private take(): Action[] | undefined {
    const actions = this.due.get(this.now);
    this.due.delete(this.now);
    return actions;
  }
}
