import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChaos } from "../../local/harness/chaos.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { commit } from "../../shared/monitoring/imports/commit.ts";
import { plan } from "../../shared/monitoring/imports/plan.ts";
import { commandLine } from "./admin.ts";
import { createBreaches } from "./breaches.ts";
import { type Client, createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { listFindings, scan } from "./scan.ts";

/** After the runtime was killed, the first message is doubled with this seed, and the second lost. */
const seed = 20_261_138;
const domain = "chaos.example";
const addressCount = 1400;
const catalog = ["Alpha", "Beta", "Gamma"].map((name) => inventedBreach(name));

/** Every address appears in none to three breaches. */
const accounts: Record<string, string[]> = Object.fromEntries(
  Array.from({ length: addressCount }, (_, index): [string, string[]] => [
    `user${index}@${domain}`,
    ["Alpha", "Beta", "Gamma"].slice(0, (index * 7) % 4),
  ]),
);
const expected = Object.entries(accounts).flatMap(([address, names]) =>
  names.map((name) => `${address} ${name}`),
);

type Listed = { status: string; newBreachesFound: number };
const latestScan = async (api: Client): Promise<Listed | undefined> => {
  try {
    return (await api.list("/scans?limit=1"))?.[0];
  } catch {
    // The service is being killed, so that it does not answer.
    return undefined;
  }
};

test("a scan survives killed workers, a killed runtime, lost and doubled messages", async () => {
  const breaches = await createBreaches(accounts, catalog);
  const data = await mkdtemp(join(tmpdir(), "chaos-"));
  const chaos = await startChaos(
    {
      seed,
      lost: 0.25,
      doubled: 0.25,
      killEveryMilliseconds: 400,
      maximumKills: { "plan-scan": 1, "check-emails": 4, sweep: 1 },
      killRuntimeAt: 1500,
    },
    (variables, port) =>
      startOwnService(
        [
          ...["--data", data, "--speed", "150", "--breaches", breaches],
          ...(port === undefined ? [] : ["--port", String(port)]),
        ],
        variables,
      ),
  );
  try {
    const { apiUrl } = chaos.service();
    const { id, key } = await createOrganization({}, { domain, apiUrl });
    const candidates = Object.keys(accounts).map((email) => ({ email }));
    await commit(id, await plan(id, candidates), administrator);

    const api = createClient({ authorization: `Bearer ${key}` }, apiUrl);
    expect((await api.post("/scans")).status).toBe(201);
    chaos.begin();
    const began = Date.now();
    const ended = await eventually(
      () => latestScan(api),
      (latest) => latest?.status === "completed" || latest?.status === "failed",
      400,
    );
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    const harm = await chaos.stop();
    console.log(`seed ${seed}, ${seconds} s: ${JSON.stringify(harm)}`);
    expect(harm.runtimes).toBe(1);
    expect(Math.min(harm.lost, harm.doubled)).toBeGreaterThan(0);
    expect(ended).toMatchObject({ status: "completed", newBreachesFound: expected.length });
    expect((await listFindings(api)).sort()).toEqual(expected.sort());
    expect(await commandLine("check", { org: id }, apiUrl)).toMatchObject({
      checked: { emails: { rows: addressCount }, findings: { rows: expected.length } },
      differences: [],
      unsettled: [],
    });
    expect(await scan(api)).toMatchObject({ status: "completed", newBreachesFound: 0 });
    expect(await commandLine("check", { org: id }, apiUrl)).toMatchObject({ differences: [], unsettled: [] });
  } finally {
    await chaos.service().stop();
  }
});
