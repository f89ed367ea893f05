/** People and workers of one organization at once, on a table as slow as DynamoDB, with its conflicts. */

import { undisturbed } from "../local/dynamodb/behaviour.ts";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import { startBehavingDynamodb } from "../local/harness/behaving-dynamodb.ts";
import { startParameters } from "../local/parameters/parameters.ts";
import { administrator } from "../shared/access/activity/actor.ts";
import { withTimeOf } from "../shared/aws/table/patience.ts";
import * as findings from "../shared/findings/finding.ts";
import { blockSize } from "../shared/lists/blocks.ts";
import * as domains from "../shared/monitoring/domains/domain.ts";
import { assign } from "../shared/monitoring/emails/changes.ts";
import * as emails from "../shared/monitoring/emails/email.ts";
import { check } from "../shared/scanning/check.ts";
import { plan } from "../shared/scanning/plan.ts";
import { start } from "../shared/scanning/start.ts";
import type { Cell, Context, Table } from "./arm.ts";
import { createChannels, webhook } from "./channels.ts";
import { openedAssembly, tableOf } from "./database.ts";
import { invocation, startQueues, takeMessages } from "./in-process.ts";
import { quantile, round, verdict } from "./measure.ts";
import { domainNames } from "./seed/addresses.ts";
import { assembly, makeDatabase } from "./service.ts";
import { accountsOfBreaches, startUpstream } from "./upstream.ts";

/** Milliseconds, as DynamoDB takes them. */
const latency = { read: 4, write: 8, transaction: 30 };

/** As many chunks as `check-emails` checks at the same time. */
const chunks = 10;
const addresses = chunks * blockSize;
const channels = 20;
const mostRatioOfConflicts = 1.2;
const invocationSeconds = 300;

const callsAtOnce = 50;
const mostSeconds = 3;

/** `letNext`: the next scan finds four breaches of each address of this half, with conflicts or without. */
type Contended = {
  org: number;
  letNext: (half: 0 | 1, conflicts: boolean) => void;
};

/** Starts table, queues and upstream, with an organization that no scan has looked at, for `act`. */
const contend = async <R>(
  progress: Context["progress"],
  act: (contended: Contended) => Promise<R>,
): Promise<R> => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const size = { findings: 0, addresses };
    const database = await makeDatabase("contended", size, { progress, isScanned: false });
    const directory = await assembly();
    const opened = openedAssembly(directory);
    const engine = await startDynamodb({ assembly: opened, directory: database.directory });
    stops.push(engine.close);
    const behaviour = { ...undisturbed, latency };
    const behaving = await startBehavingDynamodb(engine.endpoint, behaviour);
    stops.push(behaving.close);
    const hibp = await startUpstream({});
    stops.push(hibp.close);
    const given = { "/bench/hibp-key": "key" };
    const parameters = await startParameters({ assembly: opened, directory: undefined, given });
    stops.push(parameters.close);
    const queues = await startQueues();
    stops.push(queues.close);
    Object.assign(process.env, {
      ...queues.variables,
      AWS_ENDPOINT_URL_DYNAMODB: behaving.url,
      AWS_ENDPOINT_URL_SSM: parameters.url,
      CHANNEL_KEY_PARAMETER: "/bench/channel-key",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      TABLE_NAME: tableOf(directory).name,
      HIBP_BASE_URL: hibp.url,
      HIBP_API_KEY_PARAMETER: "/bench/hibp-key",
    });
    const letNext: Contended["letNext"] = (half, conflicts) => {
      behaviour.conflicts = conflicts;
      const accounts = Object.entries(accountsOfBreaches(addresses, 4));
      hibp.accounts = Object.fromEntries(accounts.filter((_, index) => index % 2 <= half));
    };
    return await act({ org: database.seeded.org, letNext });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
};

/** Does everything at once. Returns the seconds of each, and the names of the errors. */
const atOnce = async (acts: readonly (() => Promise<unknown>)[]) => {
  const failures: string[] = [];
  const seconds = await Promise.all(
    acts.map(async (act) => {
      const begin = performance.now();
      await act().catch(({ name }: Error) => failures.push(name));
      return (performance.now() - begin) / 1_000;
    }),
  );
  return { seconds, failures };
};

const scan = async ({ org }: Contended) => {
  await start(org, "manual", administrator);
  for (const message of await takeMessages("scan-plans")) await plan(message, invocation());
  const checks = await takeMessages("scan-checks");
  const { seconds, failures } = await withTimeOf(invocationSeconds * 1_000, () =>
    atOnce(checks.map((message) => () => check(message, invocation()))),
  );
  return { seconds: Math.max(...seconds), failures };
};

const people = async ({ org }: Contended): Promise<Cell[]> => {
  const domainId = (await domains.list(org))[0]?.id ?? 0;
  // A worker that tries again leaves ids out.
  const { breaches: found } = await findings.list(org, { limit: callsAtOnce, offset: 0 });
  const calls = Array.from({ length: callsAtOnce }, (_, index) => () => {
    if (index % 10 < 4)
      return findings.acknowledge(org, { id: found[index]?.id ?? 0, resolution: "handled" }, administrator);
    if (index % 10 < 6)
      return emails.add(org, { email: `new${index}@${domainNames[0]}`, domainId }, administrator);
    if (index % 10 < 7) return assign(org, 1 + index, { ownerName: "Ada" }, administrator);
    return findings.list(org, { limit: 50, offset: 0 });
  });
  // Functions that are in use have connections to the table.
  for (const count of [10, 20, callsAtOnce]) {
    await Promise.all(Array.from({ length: count }, () => domains.list(org)));
  }
  const { seconds, failures } = await atOnce(calls);
  const p95 = Number(quantile(seconds, 0.95).toFixed(2));
  return [
    "20 acknowledgements, 10 additions, 5 assignments, 15 lists",
    p95,
    failures.length,
    [verdict("p95", p95, mostSeconds), verdict("failures", failures.length, 0)].join(", "),
  ];
};

const note =
  `The service's code in one process, without HTTP and functions. The table takes ${latency.read} ` +
  `ms for a read, ${latency.write} for a write and ${latency.transaction} for a transaction.`;

export const run = async ({ progress }: Context): Promise<Table[]> => {
  const { without, scanned, crowd } = await contend(progress, async (contended) => {
    await createChannels(
      contended.org,
      Array.from({ length: channels }, (_, index) => webhook(`https://192.0.32.8/hooks/${index}`)),
    );
    progress("contention: a scan without conflicts");
    contended.letNext(0, false);
    const without = await scan(contended);
    progress("contention: a scan with conflicts");
    contended.letNext(1, true);
    const scanned = await scan(contended);
    progress("contention: people");
    return { without, scanned, crowd: await people(contended) };
  });
  const verdicts = [
    verdict("ratio", Number((scanned.seconds / without.seconds).toFixed(2)), mostRatioOfConflicts),
    verdict("failures", scanned.failures.length, 0),
  ];
  return [
    {
      title: `${callsAtOnce} calls of one organization at the same moment`,
      columns: ["Calls", "p95 s", "Failed", "Targets"],
      rows: [crowd],
      notes: [note],
    },
    {
      title:
        `A scan of ${addresses.toLocaleString("en-US")} addresses, half of them in four new ` +
        `breaches each, with ${channels} alert channels`,
      columns: ["Conflicts", "Seconds", "Failed", "Targets"],
      rows: [
        ["none", round(without.seconds), without.failures.length, ""],
        ["as on AWS", round(scanned.seconds), scanned.failures.length, verdicts.join(", ")],
      ],
      notes: [note],
    },
  ];
};
