/** First scans on a table that is as slow as DynamoDB and conflicts. */
import type { Cell, Context, Table } from "./arm.ts";
import { asSlowAsDynamodb, type Contended, contended } from "./contended.ts";
import type { Task } from "./contended-worker.ts";
import { failuresOf, hottest } from "./contention.ts";
import { round, verdict } from "./measure.ts";

/** As many as `check-emails` runs at the same time. */
const workers = 10;
/** A chunk for each worker. */
const addressesWithChannels = workers * 512;
const channels = 20;
const mostRatioOfConflicts = 1.2;
/** A transaction near the end of a worker's time has more tries than this. */
const mostTriesOfWorker = 60;

/** `seconds`: until the scan is completed. Its last worker then notes rare members for some seconds, for which nobody waits. */
const scan = async ({ planScan, work, watch }: Contended) => {
  const tasks = (await planScan()).map((message): Task => ({ do: "check", message }));
  watch.take();
  const { done, beganAt } = await work(tasks, workers);
  const watched = watch.take();
  const [read] = (await work([{ do: "read-end" }], 1)).done;
  const seconds = ((read?.endedAt ?? Number.NaN) - beganAt) / 1_000;
  return { chunks: tasks.length, seconds, failures: failuresOf(done), watched };
};

/** The same scan with conflicts and without, so that the ratio holds on any machine. */
export const scanWithChannels = async (progress: Context["progress"]): Promise<Table> => {
  const rows: Cell[][] = [];
  let without: number | undefined;
  for (const conflicts of [false, true]) {
    progress(`scan with ${channels} channels, ${conflicts ? "with" : "without"} conflicts`);
    const behaviour = { ...asSlowAsDynamodb, conflicts };
    const scanned = await contended(
      { addresses: addressesWithChannels, channels, behaviour },
      progress,
      scan,
    );
    const { seconds, failures, watched } = scanned;
    rows.push([
      conflicts ? "as on AWS" : "none",
      scanned.chunks,
      round(seconds),
      watched.transactions,
      watched.tries - watched.transactions,
      watched.mostTries,
      failures.length,
      hottest(watched),
      without === undefined
        ? ""
        : [
            verdict("ratio", Number((seconds / without).toFixed(2)), mostRatioOfConflicts),
            verdict("tries", watched.mostTries, mostTriesOfWorker),
            verdict("failures", failures.length, 0),
          ].join(", "),
    ]);
    without ??= seconds;
  }
  return {
    title: `First scan of ${addressesWithChannels.toLocaleString("en-US")} addresses in four breaches each, with ${channels} alert channels`,
    columns: [
      "Conflicts",
      "Chunks",
      "Seconds",
      "Transactions",
      "Refused tries",
      "Most tries",
      "Failed chunks",
      "Conflicts by row",
      "Targets",
    ],
    rows,
    notes: [
      `The service's code in four processes, ${workers} chunks at a time. The table takes 4 ms for a read, 8 for a write and 30 for a transaction.`,
    ],
  };
};
