import type { Call, Reply } from "./api.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { functionsOf } from "./functions.ts";
import { measuredCells, measuredColumns, quantile, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { dollarsNote, dollarsPerMillion } from "./prices.ts";
import { cpuMilliseconds, instancesOf } from "./processes.ts";
import { type Bench, seededDatabase, startBench } from "./service.ts";

export const rowCount = 500;
/** The first import warms up, the second is counted, the others are timed. */
const imports = 7;
const countedImport = 1;

/** The CSV file of this number: addresses of its own, half of them of each of two domains. */
const fileOf = (number: number): string =>
  [
    "Name,E-mail",
    ...Array.from(
      { length: rowCount },
      (_, index) =>
        `Person ${index},import.${number}.${index}@${index % 2 === 0 ? "one" : "two"}.seeded.example`,
    ),
  ].join("\n");

const boundary = "----boundary7d91f2";

/** The body of a form with one field, `file`. */
const multipart = (content: string): Buffer =>
  Buffer.from(
    [
      `--${boundary}`,
      'Content-Disposition: form-data; name="file"; filename="people.csv"',
      "Content-Type: text/csv",
      "",
      content,
      `--${boundary}--`,
      "",
    ].join("\r\n"),
  );

/** The call that uploads the file of this number. */
export const previewing = (number: number): Call => ({
  method: "POST",
  path: "/emails/import/preview",
  raw: multipart(fileOf(number)),
  headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
});

/** The call that commits what a preview answered. */
export const committing = ({ body }: Reply): Call => ({
  method: "POST",
  path: "/emails/import/commit",
  body,
});

const steps = ["preview", "commit"] as const;
const functionOf = { preview: "preview-import", commit: "commit-import" } as const;
const maxSeconds = { preview: 3, commit: 10 } as const;

const measureImports = async (bench: Bench, { progress }: Context): Promise<Cell[][]> => {
  const times = { preview: [] as number[], commit: [] as number[] };
  const counted: Partial<Record<(typeof steps)[number], Awaited<ReturnType<Bench["measure"]>>>> = {};
  let cpuBefore = { preview: 0, commit: 0 };
  for (let number = 0; number < imports; number++) {
    progress("imports", number, imports);
    let call = previewing(number);
    for (const step of steps) {
      const measured = number === countedImport ? await bench.measure(call) : undefined;
      if (measured !== undefined) counted[step] = measured;
      const reply = measured?.result ?? (await bench.api.send(call));
      if (reply.status !== 200)
        throw new Error(
          `The ${step} of an import answered ${reply.status}, not 200: ${JSON.stringify(reply.body)}`,
        );
      if (number > countedImport) times[step].push(reply.milliseconds);
      call = committing(reply);
    }
    if (number === countedImport) cpuBefore = cpuOf(bench);
  }
  const cpuAfter = cpuOf(bench);
  return steps.map((step) => {
    const measured = counted[step];
    const info = functionsOf(bench.assembly).get(functionOf[step]);
    if (measured === undefined || info === undefined) throw new Error(`There is no function for ${step}`);
    const p50 = quantile(times[step], 0.5);
    const { readUnits, writeUnits } = measured;
    return [
      `POST /emails/import/${step}`,
      ...measuredCells({
        ...measured,
        cpuMilliseconds: (cpuAfter[step] - cpuBefore[step]) / (imports - 1 - countedImport),
        p50,
        p99: quantile(times[step], 0.99),
        dollars: dollarsPerMillion({ readUnits, writeUnits, milliseconds: p50, megabytes: info.megabytes }),
        reply: measured.result,
      }),
      [
        ...(step === "preview" ? [verdict("round trips", measured.trips, 4)] : []),
        verdict("seconds", p50 / 1000, maxSeconds[step]),
      ].join(", "),
    ];
  });
};

const cpuOf = (bench: Bench): { preview: number; commit: number } => {
  const instances = instancesOf(bench.service.process.pid ?? 0);
  const infos = functionsOf(bench.assembly);
  const sum = (step: (typeof steps)[number]): number =>
    (instances.get(infos.get(functionOf[step])?.fullName ?? "") ?? []).reduce(
      (total, id) => total + cpuMilliseconds(id),
      0,
    );
  return { preview: sum("preview"), commit: sum("commit") };
};

const importArm: Arm = {
  name: "import",
  about: "Import of 500 addresses",
  run: async (context) => {
    const tables: Table[] = [];
    for (const size of context.sizes) {
      const bench = await startBench(await seededDatabase(size, context.progress));
      const memory = watchMemory([bench.service.process.pid ?? 0]);
      try {
        tables.push({
          title: `Import of ${rowCount} addresses into an organization of ${bench.seeded.addresses.toLocaleString("en-US")}`,
          columns: ["Operation", ...measuredColumns, "Targets"],
          rows: await measureImports(bench, context),
          notes: ["A commit writes transactions of up to 46 addresses, one after the other.", dollarsNote],
        });
        tables.push(memoryTable(bench, memory.stop().functions));
      } finally {
        memory.stop();
        await bench.close();
      }
    }
    return tables;
  },
};

export { importArm as import };
