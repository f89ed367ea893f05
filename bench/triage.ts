/**
 * The morning after a first scan: what people ask first of 3,000 addresses with 2,798 findings of 42 breaches, and what they do then. Each
 * call with its answer, round trips and units.
 */
import { scans } from "../shared/scanning/record.ts";
import type { Call } from "./api.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { setCatalog } from "./catalog.ts";
import { round } from "./measure.ts";
import { scanEnds } from "./scan-ends.ts";
import { addressOf, isActive } from "./seed/addresses.ts";
import { breachName } from "./seed/breaches.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";
import { type Accounts, startUpstream } from "./upstream.ts";

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

type Body = Record<string, unknown>;
/** `isOfApi`: of /api/v1, otherwise of the dashboard. */
type Question = {
  question: string;
  path: string;
  isOfApi?: true;
  body?: Body;
  answer: (body: Body) => string;
};
/** What the later questions are about. */
type Ids = { finding: number; breach: number; person: number; emails: number[]; unwatched: number[] };

type Finding = { email: string; breach: { title: string }; severity: string };

const firstOf = (body: Body): string => {
  const [first] = body.findings as Finding[];
  const shown = first && `${first.email}, ${first.breach.title}, ${first.severity}`;
  return `${body.total} findings, first: ${shown ?? "none"}`;
};

const person = addressOf(8);

const questionsOf = (scanId: number, ids: Ids): Question[] => [
  {
    question: "What is new?",
    path: "/overview",
    answer: ({ news }) => {
      const {
        findings: found,
        people,
        breaches: worst,
      } = news as Record<string, unknown> & { breaches: Body[] };
      return `${found} findings of ${people} people in 7 days, most: ${worst[0]?.title}, ${worst[0]?.findings}`;
    },
  },
  {
    question: "Which breaches?",
    path: "/breaches?state=open&order=severity&limit=50",
    answer: ({ breaches: found, total }) => {
      const [first] = found as Body[];
      return `${total} breaches, first: ${first?.title}, ${first?.severity}, ${first?.open} open`;
    },
  },
  {
    question: "What is worst?",
    path: "/findings?acknowledged=false&order=severity&limit=50",
    answer: firstOf,
  },
  {
    question: "How much is critical?",
    path: "/findings?acknowledged=false&severity=critical&limit=50",
    answer: firstOf,
  },
  {
    question: "Is this person affected?",
    path: `/emails?q=${encodeURIComponent(person)}`,
    answer: ({ emails, total }) => {
      const [first] = emails as { email: string; breachCount: number }[];
      return `${total} address, ${first?.email}: ${first?.breachCount} breaches`;
    },
  },
  {
    question: "Who is not watched?",
    path: "/unwatched?ignored=false&limit=50",
    answer: ({ addresses: found, unwatched: count }) =>
      `${count} addresses, first: ${(found as Body[])[0]?.email}`,
  },
  {
    question: "What was not checked?",
    path: `/scans/${scanId}/coverage`,
    isOfApi: true,
    answer: ({ checked, failed, skipped }) =>
      `${checked} checked, failed: ${JSON.stringify(failed)}, skipped: ${JSON.stringify(skipped)}`,
  },
  {
    question: "What is this finding?",
    path: `/findings/${ids.finding}`,
    answer: ({ email, severity }) => `of ${email}, ${severity}`,
  },
  {
    question: "What leaked in this breach, and what is to be done?",
    path: `/breaches/${ids.breach}`,
    answer: ({ title, open, advice }) => `${title}, ${open} open, first: ${(advice as Body[])[0]?.title}`,
  },
  {
    question: "What is known of this person?",
    path: `/emails/${ids.person}`,
    answer: ({ email, breachCount }) => `${email}, ${breachCount} breaches`,
  },
  {
    question: "Name the owner of three addresses",
    path: "/emails/changes",
    body: { ids: ids.emails, set: { ownerName: "Grace Hopper" } },
    answer: ({ changed, skipped }) => `${changed} changed, ${skipped} skipped`,
  },
  {
    question: "What would it cost to watch this address?",
    path: "/unwatched/watch",
    body: { ids: ids.unwatched.slice(0, 1), dryRun: true },
    answer: ({ quote }) => `${(quote as Body).newSeatsCount} seats`,
  },
  {
    question: "Watch it",
    path: "/unwatched/watch",
    body: { ids: ids.unwatched.slice(0, 1) },
    answer: ({ addedCount }) => `${addedCount} added`,
  },
  {
    question: "Ignore another",
    path: "/unwatched/ignore",
    body: { ids: ids.unwatched.slice(1), ignored: true },
    answer: ({ success }) => String(success),
  },
  {
    question: "Acknowledge this finding",
    path: "/breaches/acknowledge",
    isOfApi: true,
    body: { id: ids.finding },
    answer: ({ success }) => String(success),
  },
  {
    question: "Reopen it, without the work in the background",
    path: "/breaches/reopenings",
    isOfApi: true,
    body: { ids: [ids.finding] },
    answer: ({ matching }) => `${matching} matching`,
  },
];

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

const scan = async (bench: Bench): Promise<number> => {
  const started = await bench.api.send({ method: "POST", path: "/scans" });
  if (started.status !== 201) throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  const id = Number(started.body.scanJobId);
  const ended = await scanEnds(bench, id);
  if (scans.groupOf(ended).status !== "completed" || ended.newBreachesFound !== findings) {
    throw new Error(`The scan was to complete with ${findings} findings: ${JSON.stringify(ended)}`);
  }
  return id;
};

const ask = async (bench: Bench, { question, path, isOfApi, body, answer }: Question): Promise<Cell[]> => {
  const method = body === undefined ? "GET" : "POST";
  const call: Call = { method, path, ...(isOfApi ? {} : { asUser: true as const }) };
  // The first call starts an instance of the function; a POST without its body does nothing else.
  await bench.api.send(body === undefined ? call : { ...call, body: {} });
  const { result, trips, readUnits, writeUnits } = await bench.measure({ ...call, body });
  if (result.status >= 300)
    throw new Error(`${path} answered ${result.status}: ${JSON.stringify(result.body)}`);
  const shownCall = `${method} ${isOfApi ? "/v1" : "/dashboard"}${path}`;
  return [question, shownCall, answer(result.body), trips, round(readUnits), round(writeUnits)];
};

const run = async ({ progress }: Context): Promise<Table[]> => {
  const database = await makeDatabase("triage", { findings: 0, addresses }, { progress, isScanned: false });
  const hibp = await startUpstream(accounts(), database.seeded.domains);
  const bench = await startBench(database, { hibpUrl: hibp.url });
  try {
    const scanId = await scan(bench);
    await setCatalog(bench, "settled");
    const rows: Cell[][] = [];
    for (const question of questionsOf(scanId, await idsIn(bench))) rows.push(await ask(bench, question));
    const columns = ["Question", "Call", "Answer", "Round trips", "Read units", "Write units"];
    return [{ title: "The morning after a first scan", columns, rows }];
  } finally {
    await bench.close();
    await hibp.close();
  }
};

export const triage: Arm = { name: "triage", about: "What people ask the morning after a first scan", run };
