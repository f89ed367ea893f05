/**
 * The morning after a first scan: what people ask first of 3,000 addresses with 2,798 findings of 42 breaches, and what they do then. Each
 * call with its round trips and units.
 */
import type { Call } from "./api.ts";
import type { Cell, Run } from "./arm.ts";
import { count, countedCells, countedColumns } from "./measure.ts";
import { scan } from "./scan-ends.ts";
import { addressOf, isActive } from "./seed/addresses.ts";
import { breachName } from "./seed/breaches.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";
import type { Accounts } from "./upstream.ts";

const addresses = 3_000;
const breaches = 42;
const findings = 2_798;
/** Breached addresses of a verified domain that nobody watches. */
const unwatched = 60;
const breachesEach = 2;

const accounts = (): Accounts => {
  const active = Array.from({ length: addresses }, (_, index) => index).filter(isActive);
  const breached = active.slice(0, findings / breachesEach).map(addressOf);
  const others = Array.from({ length: unwatched }, (_, index) => `unwatched.${index}@one.seeded.example`);
  const namesOf = (index: number): string[] =>
    Array.from({ length: breachesEach }, (_, nth) => breachName(1 + ((index + 5 * nth) % breaches)));
  return Object.fromEntries([...breached, ...others].map((address, index) => [address, namesOf(index)]));
};

/** `path` begins with v1 or dashboard. With a body it is a POST. `status`: of the reply, 200 by default. */
type Question = [question: string, path: string, body?: Record<string, unknown>, status?: number];
/** What the later questions are about. */
type Ids = { finding: number; breach: number; person: number; emails: number[]; unwatched: number[] };

const person = addressOf(8);

const questionsOf = (scanId: number, { finding, breach, person: id, emails, unwatched }: Ids): Question[] => {
  const [watched, ...ignored] = unwatched;
  const watch = { ids: [watched] };
  return [
    ["What is new?", "dashboard/overview"],
    ["Which breaches?", "dashboard/breaches?state=open&order=severity&limit=50"],
    ["What is worst?", "dashboard/findings?acknowledged=false&order=severity&limit=50"],
    ["How much is critical?", "dashboard/findings?acknowledged=false&severity=critical&limit=50"],
    ["Is this person affected?", `dashboard/emails?q=${encodeURIComponent(person)}`],
    ["Who is not watched?", "dashboard/unwatched?ignored=false&limit=50"],
    ["What was not checked?", `v1/scans/${scanId}/coverage`],
    ["What is this finding?", `dashboard/findings/${finding}`],
    ["What leaked in this breach, and what is to be done?", `dashboard/breaches/${breach}`],
    ["What is known of this person?", `dashboard/emails/${id}`],
    [
      "Name the owner of three addresses",
      "dashboard/emails/changes",
      { ids: emails, set: { ownerName: "Grace Hopper" } },
    ],
    ["What would it cost to watch this address?", "dashboard/unwatched/watch", { ...watch, dryRun: true }],
    ["Watch it", "dashboard/unwatched/watch", watch, 201],
    ["Ignore another", "dashboard/unwatched/ignore", { ids: ignored, ignored: true }],
    ["Acknowledge this finding", "v1/breaches/acknowledge", { id: finding }],
    ["Reopen it, without the work in the background", "v1/breaches/reopenings", { ids: [finding] }, 202],
  ];
};

const idsIn = async ({ api }: Bench): Promise<Ids> => {
  const get = async (path: string) => (await api.send({ method: "GET", path, asUser: true })).body;
  const { findings } = await get("/findings?limit=1");
  const [finding] = findings as { id: number; emailId: number; breach: { id: number } }[];
  const emails = (await get("/emails?limit=3")).emails as { id: number }[];
  const unwatched = (await get("/unwatched?limit=2")).addresses as { id: number }[];
  return {
    finding: finding?.id ?? 0,
    breach: finding?.breach.id ?? 0,
    person: finding?.emailId ?? 0,
    emails: emails.map(({ id }) => id),
    unwatched: unwatched.map(({ id }) => id),
  };
};

const ask = async (bench: Bench, [question, path, body, status = 200]: Question): Promise<Cell[]> => {
  const method = body === undefined ? "GET" : "POST";
  const asUser = path.startsWith("dashboard") && { asUser: true as const };
  const call: Call = { method, path: path.replace(/^\w+/, ""), ...asUser };
  // The first call starts an instance of the function; a POST without its body does nothing else.
  await bench.api.send(body === undefined ? call : { ...call, body: {} });
  const counted = await count(bench, { call: () => ({ ...call, body }), status });
  return [question, `${method} /${path}`, ...countedCells(counted)];
};

export const run: Run = async ({ progress }) => {
  const database = await makeDatabase("triage", { findings: 0, addresses }, { progress, isScanned: false });
  const bench = await startBench(database, { accounts: accounts() });
  try {
    const scanId = await scan(bench, findings);
    const rows: Cell[][] = [];
    for (const question of questionsOf(scanId, await idsIn(bench))) rows.push(await ask(bench, question));
    return [
      { title: "The morning after a first scan", columns: ["Question", "Call", ...countedColumns], rows },
    ];
  } finally {
    await bench.close();
  }
};
