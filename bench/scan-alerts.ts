/** What channels get of a scan that finds many people, and when. */
import { setTimeout } from "node:timers/promises";
import type { HibpServer } from "../local/harness/hibp-server.ts";
import type { Receiver } from "../local/harness/receiver.ts";
import { administrator } from "../shared/access/activity/actor.ts";
import * as apiKeys from "../shared/access/keys/api-key.ts";
import * as findings from "../shared/findings/finding.ts";
import * as domains from "../shared/monitoring/domains/domain.ts";
import { importAll } from "../shared/monitoring/imports/commit.ts";
import { scans } from "../shared/scanning/record.ts";
import type { Cell, Context, Table } from "./arm.ts";
import { createChannels, createOrganization, webhook } from "./channels.ts";
import { round, until, verdict } from "./measure.ts";
import { untilEnded } from "./scan-ends.ts";

const addresses = 1_200;
const people = 1_090;
const channelsOfEachKind = 3;
const mostMessages = 2;
/** A scan that still runs tells what it has found after two minutes. */
const mostSeconds = 150;

/** Requests a minute: addresses that are looked up one by one take longer than a first message may. */
export const rpm = 400;

/** The domain of each method is a key. Have I Been Pwned searches only the first one whole. */
const methods = { "searched.example": "By domain search", "looked-up.example": "Address by address" };
export const covered = Object.keys(methods).slice(0, 1);

/** Seconds from the first finding, and the numbers of messages of each channel. */
type Measured = {
  ended: number;
  /** Of the channel that waits longest for its first message. */
  first: number;
  slack: number[];
  mails: number[];
  events: number[];
};

type Surroundings = { receiver: Receiver; hibp: HibpServer; apiUrl: string };

/** The service must send its mails to the receiver. */
export const measureScanAlerts = async (
  surroundings: Surroundings,
  progress: Context["progress"],
): Promise<Table> => {
  const measured: Measured[] = [];
  for (const [domain, method] of Object.entries(methods)) {
    progress(`alerts: a scan that finds ${people} people: ${method.toLowerCase()}`);
    measured.push(await measure(surroundings, domain));
  }
  return asTable(measured);
};

const measure = async ({ receiver, hibp, apiUrl }: Surroundings, domain: string): Promise<Measured> => {
  const { id: org } = await createOrganization();
  const { key } = await apiKeys.create(
    org,
    { label: "Bench", access: "full", expiresAt: null },
    administrator,
  );
  const created = await domains.create(org, { name: domain, verified: true });
  if (created === "exists") throw new Error(`The domain ${domain} exists`);
  const all = Array.from({ length: addresses }, (_, index) => `person-${index}@${domain}`);
  await importAll(
    org,
    all.map((email) => ({ email, domainId: created.id })),
    administrator,
  );
  for (let index = 0; index < channelsOfEachKind; index++) {
    const url = (kind: string): string => `${receiver.origin}/${domain}/${kind}/${index}`;
    await createChannels(org, [
      { channel: "slack", config: { webhookUrl: url("slack") } },
      { channel: "email", config: { recipients: [`channel-${index}@${domain}`] } },
      webhook(url("webhook")),
    ]);
  }
  // A first scan would be summed up.
  await scan(org, apiUrl, key);
  for (const address of all.slice(0, people)) hibp.accounts[address] = ["Alpha"];
  const ended = await scan(org, apiUrl, key);
  const arrivals = (kind: "slack" | "webhook" | "mail"): number[][] =>
    Array.from({ length: channelsOfEachKind }, (_, index) =>
      receiver.requests
        .filter(({ path, body }) =>
          kind === "mail"
            ? path.startsWith("/v2/email/") && body.includes(`"channel-${index}@${domain}"`)
            : path === `/${domain}/${kind}/${index}`,
        )
        .map(({ receivedAt }) => receivedAt.getTime()),
    );
  await until(() => arrivals("webhook").every(({ length }) => length >= people), {
    minutes: 15,
    what: "the alerts of a scan",
  });
  await quiet(receiver);
  // Newest first.
  const { breaches } = await findings.list(org, { limit: 1, offset: people - 1 });
  const began = Date.parse(breaches[0]?.firstDetectedAt ?? "");
  const [slack, mails, events] = [arrivals("slack"), arrivals("mail"), arrivals("webhook")];
  const firsts = [...slack, ...mails].map((times) => Math.min(...times));
  const counted = (times: number[][]): number[] => times.map(({ length }) => length);
  return {
    ended: (ended - began) / 1_000,
    first: (Math.max(...firsts) - began) / 1_000,
    slack: counted(slack),
    mails: counted(mails),
    events: counted(events),
  };
};

/** Scans, and gives when the scan ended, in milliseconds since 1970. */
const scan = async (org: number, apiUrl: string, key: string): Promise<number> => {
  const reply = await fetch(`${apiUrl}/scans`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
  });
  const { scanJobId: id, error } = (await reply.json()) as { scanJobId?: number; error?: string };
  if (id === undefined) throw new Error(`The scan did not start: ${error}`);
  return Date.parse((await untilEnded(() => scans.get(org, id))).completedAt ?? "");
};

/** Waits until nothing has arrived for some seconds: what comes once too often must not be missed. */
const quiet = async ({ requests }: Receiver): Promise<void> => {
  for (let before = -1; before !== requests.length; await setTimeout(5_000)) before = requests.length;
};

const asTable = (measured: readonly Measured[]): Table => {
  const row = (label: string, values: number[], what?: string, most = Number.NaN): Cell[] => [
    label,
    ...values.map(round),
    what === undefined ? "" : verdict(what, Math.max(...values), most),
  ];
  const mostOf = (counts: "slack" | "mails" | "events"): number[] =>
    measured.map((each) => Math.max(...each[counts]));
  const ended = measured.map((each) => each.ended);
  const first = measured.map((each) => each.first);
  const fewest = measured.map(({ events }) => Math.min(...events));
  return {
    title: `Alerts of a scan that finds ${people.toLocaleString("en-US")} people`,
    columns: ["", ...Object.values(methods), "Targets"],
    rows: [
      row("First finding to the end of the scan, s", ended),
      row(
        "First finding to the first message of each Slack and e-mail channel, s",
        first,
        "seconds",
        mostSeconds,
      ),
      row("Slack messages, most of a channel", mostOf("slack"), "messages", mostMessages),
      row("E-mails, most of a channel", mostOf("mails"), "e-mails", mostMessages),
      row("Webhook events, fewest of a channel", fewest),
      row("Webhook events, most of a channel", mostOf("events"), "events", people),
    ],
    notes: [
      `${addresses.toLocaleString("en-US")} addresses, ${channelsOfEachKind} channels of each ` +
        "kind with their defaults, and a scan before that found nobody. Have I Been Pwned allows " +
        `${rpm} requests a minute.`,
    ],
  };
};
