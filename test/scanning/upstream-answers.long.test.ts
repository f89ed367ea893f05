/**
 * The table of docs/hibp.md: what the service does and says when one endpoint of HIBP answers something else
 * and all others work.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { domainCommands } from "../../bin/admin/commands/domain.ts";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as findings from "../../shared/findings/finding.ts";
import { domainPrefix } from "../../shared/hibp/subscription-state.ts";
import { start } from "../../shared/scanning/start.ts";
import { passWhatIsWaitedFor } from "../hibp/virtual-time.ts";
import {
  createOrganization,
  readScan,
  runChecks,
  runLookUps,
  runPlans,
  useWorkers,
} from "./in-process-workers.ts";

const page = {
  headers: { "content-type": "text/html" },
  body: "<!DOCTYPE html><title>Just a moment</title>",
};

/** What an endpoint answers, instead of its answer. */
const answers = {
  "400": { status: 400, body: '{"statusCode":400,"message":"This is not included in your subscription."}' },
  "410": { status: 410, body: '{"statusCode":410,"message":"Gone."}' },
  "401": { status: 401, body: '{"statusCode":401,"message":"Access denied due to invalid hibp-api-key."}' },
  "402": { status: 402, body: '{"statusCode":402,"message":"Payment required."}' },
  "403": { status: 403, body: '{"statusCode":403,"message":"Your plan does not include this."}' },
  "403 page": { status: 403, ...page },
  "404": { status: 404, body: '{"statusCode":404,"message":"No active subscription found."}' },
  "404 page": { status: 404, ...page },
  "429": { status: 429, headers: { "retry-after": "1" } },
  "503": { status: 503 },
  "200 page": { status: 200, ...page },
};
type Answer = keyof typeof answers;

/** HIBP searches one domain whole and another one not. Both have one address, which is in one breach. */
const listed = "listed.example";
const unlisted = "unlisted.example";

const whole = "domain search";
const single = (reason: string) => `address by address: ${reason}`;
const notVerified = single("not verified at HIBP");
const noSearch = single("the plan has no domain search");
const refused = single("HIBP refuses to search it");
const tooLarge = single("too large for the plan, or more domains than the plan has");
const tried = "domain search, if HIBP allows it";

type Outcome = {
  /** The addresses that were checked, and those of them whose breach was found. */
  checked: number;
  found: number;
  /** How the scan's sentence about the others ends. */
  says: string | null;
  /** How the command line says that the domains are scanned. */
  scannedBy: [listed: string, unlisted: string];
};

const asUsual: Outcome = { checked: 2, found: 2, says: null, scannedBy: [whole, notVerified] };
const untold: Outcome = { ...asUsual, scannedBy: [tried, refused] };
const unlistedFails = (says: string): Outcome => ({ ...asUsual, checked: 1, found: 1, says });
const listedFails = unlistedFails;
const nothing = (says: string): Outcome => ({ checked: 0, found: 0, says, scannedBy: [tried, tried] });

const didNotAnswer = "Have I Been Pwned did not answer";
const refusedKey = "Have I Been Pwned refused the API key";
const noSubscription = "Have I Been Pwned has no active subscription for the API key";
const blocked = "Have I Been Pwned blocked this service at its edge";
const malformed = "Have I Been Pwned refused an address as malformed";
const forbidden = "Have I Been Pwned refused to look addresses up with this API key";

/** The same outcome, whatever an endpoint answers. */
const always = (outcome: Outcome): Record<Answer, Outcome> => {
  const kinds = Object.keys(answers) as Answer[];
  return Object.fromEntries(kinds.map((kind) => [kind, outcome])) as Record<Answer, Outcome>;
};

const outcomes: Record<string, Record<Answer, Outcome>> = {
  "subscription/status": {
    "400": asUsual,
    "410": asUsual,
    "401": nothing(refusedKey),
    "402": nothing(noSubscription),
    "403": asUsual,
    "403 page": asUsual,
    "404": nothing(noSubscription),
    "404 page": asUsual,
    "429": asUsual,
    "503": asUsual,
    "200 page": asUsual,
  },
  subscribeddomains: {
    "400": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "410": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "401": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "402": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "403": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "403 page": untold,
    "404": { ...asUsual, scannedBy: [noSearch, noSearch] },
    "404 page": untold,
    "429": untold,
    "503": untold,
    "200 page": untold,
  },
  breacheddomain: {
    "400": { ...asUsual, scannedBy: [refused, notVerified] },
    "410": { ...asUsual, scannedBy: [refused, notVerified] },
    "401": { ...asUsual, scannedBy: [noSearch, notVerified] },
    "402": { ...asUsual, scannedBy: [noSearch, notVerified] },
    "403": { ...asUsual, scannedBy: [tooLarge, notVerified] },
    "403 page": listedFails(blocked),
    "404": { ...asUsual, found: 1 },
    "404 page": listedFails(didNotAnswer),
    "429": asUsual,
    "503": listedFails(didNotAnswer),
    "200 page": listedFails(didNotAnswer),
  },
  breachedaccount: {
    "400": unlistedFails(malformed),
    "410": unlistedFails(didNotAnswer),
    "401": unlistedFails(refusedKey),
    "402": unlistedFails(noSubscription),
    "403": unlistedFails(forbidden),
    "403 page": unlistedFails(blocked),
    "404": { ...asUsual, found: 1 },
    "404 page": unlistedFails(didNotAnswer),
    "429": asUsual,
    "503": unlistedFails(didNotAnswer),
    "200 page": unlistedFails(didNotAnswer),
  },
  stealerlogsbyemaildomain: always(asUsual),
  breaches: always(asUsual),
};

/** A scan waits for these as long as they answer 429, so they answer it so often only. */
const waitedFor = ["breacheddomain", "breachedaccount"];
const refusalsOfWaitedFor = 2;

useWorkers();
let hibp: HibpServer;
let undo: () => void;

beforeAll(async () => {
  hibp = await startHibpServer();
  hibp.covered = [listed];
  hibp.latency = 1;
  vi.stubEnv("HIBP_BASE_URL", hibp.url);
  undo = passWhatIsWaitedFor();
});

afterAll(async () => {
  undo();
  await hibp?.close();
});

/** A whole scan, as soon as its messages come. */
const scan = async (org: number) => {
  const scanId = await start(org, "manual", administrator);
  for (let seconds = 0; ; seconds++) {
    await runPlans();
    await runChecks();
    await runLookUps();
    const ended = await readScan(org, scanId);
    if (ended.status === "completed" || ended.status === "failed") return ended;
    if (seconds > 600) throw new Error(`The scan does not end: ${JSON.stringify(ended)}`);
    vi.setSystemTime(Date.now() + 1_000);
  }
};

/** As on a new deployment: nothing of HIBP's answers is stored. */
const forget = async (): Promise<void> => {
  const { pk } = keys.subscription();
  const domains = await table.query<{ pk: string; sk: string }>({ pk, prefix: domainPrefix });
  await Promise.all(
    [keys.limiter(), keys.subscription(), ...domains].map(({ pk, sk }) => table.remove({ pk, sk })),
  );
};

let count = 0;
beforeEach(() => {
  count++;
});

const cases = Object.entries(outcomes).flatMap(([endpoint, byAnswer]) =>
  Object.entries(byAnswer).map(([answer, outcome]) => ({ endpoint, answer: answer as Answer, outcome })),
);

describe("while all other endpoints work", () => {
  test.each(cases)("$endpoint answers $answer", async ({ endpoint, answer, outcome }) => {
    const org = await createOrganization({ [listed]: 1, [unlisted]: 1 });
    // A breach of a stealer log that the service does not know, so that it asks for the list.
    const breach = `Breach${count}`;
    hibp.catalog = [...hibp.catalog, { ...inventedBreach(breach), IsStealerLog: true }];
    hibp.accounts = { [`user0@${listed}`]: [breach], [`user0@${unlisted}`]: [breach] };
    await forget();
    let asked = 0;
    hibp.fail = (path) => {
      if (!path.startsWith(endpoint)) return undefined;
      asked++;
      const isOver = answer === "429" && waitedFor.includes(endpoint) && asked > refusalsOfWaitedFor;
      return isOver ? undefined : answers[answer];
    };

    const { checked, found, says, scannedBy } = outcome;
    const ended = await scan(org);
    expect(asked).toBeGreaterThan(0);
    const sentence =
      checked === 0
        ? "None of 2 monitored emails could be scanned"
        : "1 of 2 monitored emails could not be scanned and will be retried on the next scan";
    expect(ended).toMatchObject({
      status: checked === 0 ? "failed" : "completed",
      scannedEmails: checked,
      newBreachesFound: found,
      errorMessage: says === null ? null : `${sentence}: ${says}`,
    });
    expect((await findings.list(org, { limit: 10, offset: 0 })).total).toBe(found);
    const stack = { outputs: {}, isLocal: true };
    expect(await domainCommands["domain list"]?.run({ org: String(org) }, stack)).toMatchObject({
      domains: scannedBy.toReversed().map((how) => ({ scannedBy: how })),
    });

    if (found === 2) return;
    // What failed is looked at again, and nothing else is new.
    hibp.fail = () => undefined;
    await forget();
    expect(await scan(org)).toMatchObject({
      status: "completed",
      scannedEmails: 2,
      newBreachesFound: 2 - found,
      errorMessage: null,
    });
  });
});
