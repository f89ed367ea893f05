import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type ScanRecord, scans } from "../shared/scanning/record.ts";
import type { Call, Reply } from "./api.ts";
import { engineClient, tableOf } from "./database.ts";
import type { Bench } from "./service.ts";

/** Ids that operations pass on to later ones. */
export type State = {
  unacknowledged: number[];
  addedEmails: number[];
  channels: number[];
};

export type Operation = {
  name: string;
  /** The function that answers, as in functions/routes.ts. */
  function: string;
  call: (state: State, index: number) => Call;
  status: number;
  replied?: (state: State, reply: Reply, index: number) => void;
  /** How many calls are timed after the counted one: fewer if the service allows only a few an hour. */
  timedCalls: number;
  messages?: number;
  /** Undefined for removals: the more belongs to the removed thing, the longer they take. */
  maxTrips?: number;
  maxWriteUnits?: number;
  /** Awaited after every call. */
  after?: (bench: Bench, reply: Reply) => Promise<unknown>;
};

/** Every operation that is not a list, in an order in which each finds what it needs. */
export const operations: readonly Operation[] = [
  {
    name: "Authorizer alone (unknown path)",
    function: "refuse-route",
    call: () => ({ method: "GET", path: "/nothing" }),
    status: 404,
    timedCalls: 30,
    maxTrips: 1,
    maxWriteUnits: 2,
  },
  {
    name: "POST /breaches/acknowledge",
    function: "acknowledge-breach",
    call: ({ unacknowledged }, index) => acknowledging(unacknowledged[index]),
    status: 200,
    timedCalls: 20,
    maxTrips: 4,
    maxWriteUnits: 2 + 15,
  },
  {
    name: "POST /breaches/acknowledge, again",
    function: "acknowledge-breach",
    call: ({ unacknowledged }, index) => acknowledging(unacknowledged[index]),
    status: 200,
    timedCalls: 20,
    maxTrips: 4,
    maxWriteUnits: 2 + 12,
  },
  {
    name: "POST /emails",
    function: "add-email",
    call: (_, index) => ({
      method: "POST",
      path: "/emails",
      body: { email: `new.${index}@one.seeded.example`, domainId: 1, teamId: 1, ownerName: "New" },
    }),
    status: 201,
    replied: ({ addedEmails }, { body }) => addedEmails.push(Number(body.id)),
    timedCalls: 10,
    maxTrips: 4,
  },
  {
    name: "PATCH /emails/{id}, disable",
    function: "change-email",
    call: ({ addedEmails }, index) => changing(addedEmails[index], false),
    status: 200,
    timedCalls: 10,
    maxTrips: 4,
  },
  {
    name: "PATCH /emails/{id}, enable",
    function: "change-email",
    call: ({ addedEmails }, index) => changing(addedEmails[index], true),
    status: 200,
    timedCalls: 10,
    maxTrips: 4,
  },
  {
    name: "PATCH /emails/{id}, no change",
    function: "change-email",
    call: ({ addedEmails }, index) => changing(addedEmails[index], true),
    status: 200,
    timedCalls: 10,
    maxTrips: 4,
  },
  {
    name: "DELETE /emails without findings",
    function: "remove-email",
    call: ({ addedEmails }, index) => ({ method: "DELETE", path: `/emails?id=${addedEmails[index]}` }),
    status: 200,
    timedCalls: 10,
    maxTrips: 4,
  },
  {
    name: "DELETE /emails with its findings",
    function: "remove-email",
    call: (_, index) => ({ method: "DELETE", path: `/emails?id=${101 + index}` }),
    status: 200,
    timedCalls: 10,
  },
  {
    name: "POST /alert-configs",
    function: "create-alert-config",
    call: () => ({
      method: "POST",
      path: "/alert-configs",
      body: { channel: "email", config: { recipients: ["alerts@one.seeded.example"] } },
    }),
    status: 201,
    replied: ({ channels }, { body }) => channels.push(Number(body.id)),
    timedCalls: 9,
    maxTrips: 4,
  },
  {
    name: "GET /alert-configs",
    function: "list-alert-configs",
    call: () => ({ method: "GET", path: "/alert-configs" }),
    status: 200,
    timedCalls: 30,
    maxTrips: 3,
  },
  {
    name: "PATCH /alert-configs/{id}",
    function: "change-alert-config",
    call: ({ channels }, index) => ({
      method: "PATCH",
      path: `/alert-configs/${channels[index]}`,
      body: { isEnabled: false },
    }),
    status: 200,
    timedCalls: 9,
    maxTrips: 4,
  },
  {
    name: "DELETE /alert-configs/{id}",
    function: "delete-alert-config",
    call: ({ channels }, index) => ({ method: "DELETE", path: `/alert-configs/${channels[index]}` }),
    status: 200,
    timedCalls: 9,
  },
  {
    name: "POST /scans",
    function: "start-scan",
    call: () => ({ method: "POST", path: "/scans" }),
    status: 201,
    // An organization may start ten scans an hour.
    timedCalls: 9,
    messages: 1,
    maxTrips: 4,
    after: (bench, { body }) => scanEnds(bench, Number(body.scanJobId)),
  },
];

const acknowledging = (id: number | undefined): Call => ({
  method: "POST",
  path: "/breaches/acknowledge",
  body: { id, resolution: "handled", reason: "Password changed" },
});

const changing = (id: number | undefined, isActive: boolean): Call => ({
  method: "PATCH",
  path: `/emails/${id}`,
  body: { isActive },
});

/** The state before the first operation. */
export const initialState = async ({ api }: Bench): Promise<State> => {
  const { body } = await api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=50" });
  const unacknowledged = (body.breaches as { id: number }[]).map(({ id }) => id);
  return { unacknowledged, addedEmails: [], channels: [] };
};

const lookAgainMilliseconds = 200;

/** Waits for the end of a scan by reading the engine directly, so that the meter counts the scan alone. */
export const scanEnds = async (
  { engine, assembly, seeded }: Bench,
  scanId: number,
  seconds = 3_600,
): Promise<ScanRecord> => {
  const client = engineClient(engine.url);
  const look = new GetItemCommand({
    TableName: tableOf(assembly).name,
    Key: marshall(scans.key(seeded.org, scanId)),
    ConsistentRead: true,
  });
  const deadline = Date.now() + seconds * 1000;
  try {
    for (;;) {
      const { Item } = await client.send(look);
      const scan = Item && (unmarshall(Item) as ScanRecord);
      const status = scan && scans.groupOf(scan).status;
      if (scan !== undefined && (status === "completed" || status === "failed")) return scan;
      if (Date.now() > deadline)
        throw new Error(`Scan ${scanId} did not end within ${seconds} s: ${JSON.stringify(scan)}`);
      await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds));
    }
  } finally {
    client.destroy();
  }
};
