import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import { startChaos } from "../local/harness/chaos.ts";
import { startHibpServer } from "../local/harness/hibp-server.ts";
import { startMeter } from "../local/harness/meter.ts";
import { startService } from "../local/harness/service.ts";
import { openAssembly } from "../local/template/assembly.ts";
import type { Report } from "../shared/operations/audit/audit.ts";
import { createApi, type Reply } from "./api.ts";
import type { Arm, Context, Table } from "./arm.ts";
import { peakMegabytes } from "./processes.ts";
import { domainNames, isActive } from "./seed/addresses.ts";
import { upstreamCatalog } from "./seed/breaches.ts";
import { accountsOf } from "./seed/findings.ts";
import type { Seeded } from "./seed/seed.ts";
import { assembly, makeDatabase } from "./service.ts";

const size = { addresses: 100_000, findings: 200_000 };
const defaultSeed = 20_261_121;
const faults = {
  lost: 0.1,
  doubled: 0.2,
  killEveryMilliseconds: 1500,
  maximumKills: { "plan-scan": 2, "check-emails": 200, sweep: 5 },
};
const killRuntimeAt = [45_000, 120_000, 200_000];

/** How many times faster time passes: sweeps run every 15 s instead of every 5 min. */
const speed = "20";
const scanWithinSeconds = 3600;

const numbers = new Intl.NumberFormat("en-US");

/** A first scan while the service is being harmed, a second scan without harm, and an audit after each. */
export const chaos: Arm = {
  name: "chaos",
  about: "A scan of 100,000 addresses while workers die and messages are lost or doubled",
  run: async ({ progress }) => {
    const seed = Number(process.env.CHAOS_SEED ?? defaultSeed);
    const assemblyDirectory = await assembly();
    const { directory, seeded } = await makeDatabase("chaos", size, { progress, isScanned: false });
    const hibp = await startHibpServer();
    Object.assign(hibp, { accounts: accountsOf(size), catalog: upstreamCatalog(), covered: domainNames });
    const opened = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
    const engine = await startDynamodb({ assembly: opened, directory });
    const meter = await startMeter(engine.endpoint);
    const harmed = await startChaos({ seed, ...faults, killRuntimeAt }, (variables, port) =>
      startService(
        ["--memory", "--speed", speed, "--hibp-url", hibp.url, "--port", String(port ?? 0)],
        { ...variables, AWS_ENDPOINT_URL_DYNAMODB: meter.url },
        assemblyDirectory,
      ),
    );
    try {
      const { apiUrl, port } = harmed.service();
      const api = createApi(apiUrl, seeded.apiKeys, seeded.session);
      const scan = () => runScan(api.send, progress);
      meter.take();
      const began = Date.now();
      harmed.begin();
      const first = await scan();
      const seconds = (Date.now() - began) / 1000;
      const harm = await harmed.stop();
      const units = meter.take();

      progress("chaos: auditing");
      const audited = await audit(port, seeded);
      progress("chaos: the next scan");
      const again = await scan();
      const auditedAgain = await audit(port, seeded);
      await api.close();

      const kills = Object.entries(harm.instances).map(([worker, count]) => `${worker} ${count}`);
      const rows: Table["rows"] = [
        ["Seed", String(seed)],
        ["Workers killed", kills.join(", ")],
        ["Whole runtime killed", harm.runtimes],
        ["Messages lost", harm.lost],
        ["Messages doubled", harm.doubled],
        ["Scan", described(first)],
        ["Findings of active addresses that upstream knows", numbers.format(expectedFindings(hibp.accounts))],
        ["Seconds", Number(seconds.toFixed(1))],
        ["Read units", Math.round(units.readUnits)],
        ["Write units", Math.round(units.writeUnits)],
        ["Rows audited", auditedRows(audited.report)],
        ["Differences", differencesIn(audited.report)],
        ["Audit: seconds", Number(audited.seconds.toFixed(1))],
        ["Audit: peak memory, MB", audited.megabytes],
        ["Next scan", described(again)],
        ["Differences after the next scan", differencesIn(auditedAgain.report)],
      ];
      return [
        {
          title: "Chaos: a first scan of 100,000 addresses",
          columns: ["", "Value"],
          rows,
          notes: [
            `${faults.lost * 100} % of messages are lost and ${faults.doubled * 100} % doubled. A worker is killed every ${faults.killEveryMilliseconds / 1000} s on average, and the whole runtime with all its messages after ${killRuntimeAt.map((at) => at / 1000).join(", ")} s. The environment variable CHAOS_SEED chooses another seed.`,
            "The audit recomputes every counter, directory row and breachCount from the rows (npm run admin -- check).",
          ],
        },
      ];
    } finally {
      await harmed.stop();
      await harmed.service().stop();
      await meter.close();
      await engine.close();
      await hibp.close();
    }
  },
};

type Scan = { status: string; totalEmails: number; scannedEmails: number; newBreachesFound: number };

const described = ({ status, totalEmails, scannedEmails, newBreachesFound }: Scan): string =>
  `${status}: ${numbers.format(scannedEmails)} of ${numbers.format(totalEmails)} addresses, ${numbers.format(newBreachesFound)} new findings`;

/** Findings that a scan must end with: the breaches of all addresses that are active. */
const expectedFindings = (accounts: Record<string, string[]>): number =>
  Object.entries(accounts).reduce(
    (sum, [address, names]) => sum + (isActive(Number(/\.(\d+)@/.exec(address)?.[1])) ? names.length : 0),
    0,
  );

type Send = (call: { method: "GET" | "POST"; path: string }) => Promise<Reply>;

/** Starts a scan and waits for its end. Requests that a killed service does not answer are repeated. */
const runScan = async (send: Send, progress: Context["progress"]): Promise<Scan> => {
  const sendUntilAnswered = async (method: "GET" | "POST", path: string): Promise<Reply> => {
    for (let tries = 0; ; tries++) {
      try {
        const reply = await send({ method, path });
        if (reply.status < 500 || tries > 100) return reply;
      } catch (error) {
        if (tries > 100) throw error;
      }
      await setTimeout(500);
    }
  };
  const started = await sendUntilAnswered("POST", "/scans");
  if (started.status !== 201 && started.status !== 409) {
    throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  }
  for (const deadline = Date.now() + scanWithinSeconds * 1000; Date.now() < deadline; ) {
    const { body } = await sendUntilAnswered("GET", "/scans?limit=1");
    const [latest] = body.scans as Scan[];
    if (latest?.status === "completed" || latest?.status === "failed") return latest;
    progress("chaos: scanning", latest?.scannedEmails ?? 0, latest?.totalEmails ?? 0);
    await setTimeout(2000);
  }
  throw new Error(`The scan did not end in ${scanWithinSeconds} s`);
};

/**
 * Audits the organization with the command that operators use. `megabytes`: the peak memory of its process.
 */
const audit = async (
  port: number,
  { org }: Seeded,
): Promise<{ report: Report; seconds: number; megabytes: number }> => {
  const began = Date.now();
  const entry = join(import.meta.dirname, "../bin/admin.ts");
  const args = [entry, "check", "--org", String(org), "--port", String(port), "--json"];
  let megabytes = 0;
  const out = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, args, { maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      clearInterval(timer);
      // Exit status 1 means that there are differences, which are in the report; only no output is a failure.
      if (stdout === "") reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
    const timer = setInterval(() => {
      megabytes = Math.max(megabytes, peakMegabytes(child.pid ?? 0));
    }, 200);
  });
  return {
    report: JSON.parse(out) as Report,
    seconds: (Date.now() - began) / 1000,
    megabytes: Math.round(megabytes),
  };
};

const auditedRows = ({ checked }: Report): string =>
  Object.entries(checked)
    .map(([kind, { rows }]) => `${kind} ${numbers.format(rows)}`)
    .join(", ");

const differencesIn = ({ differenceCount, unsettled, differences }: Report): string =>
  differenceCount + unsettled.length === 0
    ? "none"
    : [
        `${differenceCount}, ${unsettled.length} unsettled`,
        ...differences.slice(0, 5).map(({ kind, id, says }) => `${kind} ${id}: ${says}`),
      ].join("; ");
