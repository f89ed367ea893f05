import type { Arm, Cell, Context, Table } from "./arm.ts";
import { asSlowAsDynamodb, type Contended, contended } from "./contended.ts";
import type { Watched } from "./contended-watch.ts";
import type { Done, Task } from "./contended-worker.ts";
import { quantile, round, verdict } from "./measure.ts";
import { addressOf } from "./seed/addresses.ts";

const addresses = 1_024;
const mostSeconds = 3;
/** Calls of an organization at the same time: each sends one transaction, or reads a list. */
const atOnce = 200;

const acknowledgements = (from: number, count: number): Task[] =>
  Array.from({ length: count }, (_, index) => ({ do: "acknowledge", id: from + index }));
const additions = (from: number, count: number): Task[] =>
  Array.from({ length: count }, (_, index) => ({
    do: "add",
    email: addressOf(0).replace(/^[^@]*/, `added${from + index}`),
    domainId: 1,
  }));
const assignments = (count: number): Task[] =>
  Array.from({ length: count }, (_, index) => ({ do: "assign", id: 1 + index }));
const lists = (count: number): Task[] => Array.from({ length: count }, () => ({ do: "list" }));

/** Takes a task of each kind in turn, as people do who know nothing of each other. */
const mixed = (...kinds: Task[][]): Task[] =>
  Array.from({ length: Math.max(...kinds.map(({ length }) => length)) }, (_, index) =>
    kinds.flatMap((kind) => kind[index] ?? []),
  ).flat();

const crowds: readonly { name: string; tasks: Task[] }[] = [
  {
    name: "80 acknowledgements, 40 additions, 40 assignments, 40 lists",
    tasks: mixed(acknowledgements(1, 80), additions(0, 40), assignments(40), lists(40)),
  },
  { name: "120 acknowledgements, 80 lists", tasks: mixed(acknowledgements(101, 120), lists(80)) },
  { name: "60 additions", tasks: additions(100, 60) },
];

/** The rows with most conflicts, as text. */
export const hottest = ({ conflicts }: Watched, count = 3): string =>
  [...conflicts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([row, refusals]) => `${row}: ${refusals}`)
    .join(", ");

export const failuresOf = (done: readonly Done[]): string[] => done.flatMap(({ failed }) => failed ?? []);

const measureCrowd = async (
  { work, watch }: Contended,
  { name, tasks }: (typeof crowds)[number],
): Promise<Cell[]> => {
  watch.take();
  const { done } = await work(tasks, atOnce);
  const { transactions, tries, mostTries, ...watched } = watch.take();
  const seconds = done.map(({ milliseconds }) => milliseconds / 1000);
  const p95 = Number(quantile(seconds, 0.95).toFixed(2));
  const failures = failuresOf(done);
  return [
    name,
    Number(quantile(seconds, 0.5).toFixed(2)),
    p95,
    Number(Math.max(...seconds).toFixed(2)),
    failures.length,
    round(tries / transactions),
    mostTries,
    hottest({ transactions, tries, mostTries, ...watched }),
    [verdict("p95", p95, mostSeconds), verdict("failures", failures.length, 0)].join(", "),
  ];
};

const run = async ({ progress }: Context): Promise<Table[]> =>
  contended({ addresses, channels: 0, behaviour: asSlowAsDynamodb }, progress, async (own) => {
    progress("contention: a first scan");
    const checks = (await own.planScan()).map((message): Task => ({ do: "check", message }));
    const failures = failuresOf((await own.work(checks, checks.length)).done);
    if (failures.length > 0) throw new Error(`The scan failed: ${failures}`);
    const rows: Cell[][] = [];
    for (const crowd of crowds) {
      progress(`contention: ${crowd.name}`);
      rows.push(await measureCrowd(own, crowd));
    }
    return [
      {
        title: "Calls of one organization that begin at the same moment",
        columns: [
          "Calls",
          "p50 s",
          "p95 s",
          "Most s",
          "Failed",
          "Tries a transaction",
          "Most tries",
          "Conflicts by row",
          "Targets",
        ],
        rows,
        notes: [
          "The service's code in four processes, without HTTP and functions. The table takes 4 ms for a read, 8 for a write and 30 for a transaction, and refuses what overlaps a transaction.",
        ],
      },
    ];
  });

export const contention: Arm = { name: "contention", about: "Many calls of one organization at once", run };
