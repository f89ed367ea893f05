/** What `deployment test` looks at. */
import { CloudWatchClient, DescribeAlarmsCommand } from "@aws-sdk/client-cloudwatch";
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { queueWorkers } from "../../../functions/workers.ts";
import { scheduleEveryMinute, unschedule } from "../../../shared/access/organizations/scan-schedule.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import { deliveries, raiseFor } from "../../../shared/alerting/deliveries/delivery.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { withVersion } from "../../../shared/contract/version.ts";
import { type Asked, call, eventually, routeOf, send, type Trial } from "./trial.ts";

/** `run` gives words to add to the line, or throws. `advice`: what to do after a throw. */
export type Check = { name: string; run: (trial: Trial) => Promise<string | undefined>; advice: string };

/** Thrown by a check that does not concern this deployment. */
export class Skipped extends Error {}

/** HIBP's domain for tests of its API (https://haveibeenpwned.com/API/v3). */
export const testDomain = "hibp-integration-tests.com";

/** Amazon SES's simulator takes mail to these addresses, also in the sandbox, and nobody reads it. */
export const mailbox = (label: string): string => `success+${label}@simulator.amazonses.com`;

const logOf = (functions: string): string => `Look at the log of ${functions}`;

const importFile = (): FormData => {
  const form = new FormData();
  form.set("file", new Blob([`imported@${testDomain}\n`]), "addresses.csv");
  return form;
};
const byMail = { channel: "email", config: { recipients: [mailbox("user")] } };
/** Which channels of all kinds may have. */
const options = {
  name: null,
  minSeverity: "low",
  grouping: "address",
  sensitive: "named",
  tellOwners: false,
};
/** The id in what an earlier call has replied. */
const idOf = ({ replies }: Trial, endpoint: string, field = "id"): number => {
  const id = replies[endpoint]?.[field];
  if (id === undefined) throw new Error(`it needs what ${endpoint} makes`);
  return id;
};
const channelOf = (trial: Trial): number => idOf(trial, "create-alert-config");
/** A link's token of the right form, which nobody has. */
const tokenOf = (org: number): string => `${org}.${"A".repeat(22)}.${"A".repeat(22)}`;

type Asking = Asked | ((trial: Trial) => Asked);

/** An endpoint of each role, in an order in which each finds what it needs. A test holds that no role is missing. */
export const calls: Record<string, Asking> = {
  "get-sign-in": {},
  "create-sign-in-link": { body: { email: mailbox("user") } },
  // 404: no identity provider is set up.
  "open-provider": { statuses: [200, 404] },
  "redeem-provider-code": { body: { answer: "state=none" }, statuses: [401] },
  "list-emails": {},
  "list-findings": {},
  "preview-import": () => ({ body: importFile() }),
  "add-email": ({ domainId }) => ({ body: { email: `account-exists@${testDomain}`, domainId } }),
  "change-organization": { body: { scanEvery: "never" } },
  "add-domain": { body: { name: "deployment-test.example" } },
  // 503: the function runs, but no name server answers it.
  "check-domain": (trial) => ({ id: idOf(trial, "add-domain"), statuses: [200, 503] }),
  "create-team": { body: { name: "Deployment test" } },
  "create-api-key": { body: { label: "Deployment test" } },
  "revoke-api-key": (trial) => ({ id: idOf(trial, "create-api-key") }),
  "connect-directory": { body: { name: "Deployment test" } },
  "invite-member": { body: { email: mailbox("invited"), role: "member" } },
  "open-recipient": ({ org }) => ({ id: tokenOf(org) }),
  "confirm-recipient": ({ org }) => ({ id: tokenOf(org), statuses: [404] }),
  "create-alert-config": ({ webhook }) => ({
    body: webhook === undefined ? byMail : { channel: "webhook", config: { url: webhook.url } },
  }),
  "change-alert-config": (trial) => ({ id: channelOf(trial), body: { notifyOnNewBreach: false } }),
  "set-alert-options": (trial) => ({ id: channelOf(trial), body: options }),
  // 404: no delivery has the id of its channel.
  "get-delivery": (trial) => ({ id: channelOf(trial), statuses: [200, 404] }),
  "test-alert-config": (trial) => ({ id: channelOf(trial) }),
  "start-scan": {},
};
/** Those that end what other checks need. */
export const lastCalls: Record<string, Asking> = {
  "acknowledge-breaches": { body: { filter: {} } },
  "delete-alert-config": (trial) => ({ id: channelOf(trial) }),
  "disconnect-directory": (trial) => ({ id: idOf(trial, "connect-directory") }),
  "end-session": {},
};

const callChecks = (asked: Record<string, Asking>): Check[] =>
  Object.entries(asked).map(([name, asking]) => ({
    name: `${routeOf(name).method} /${routeOf(name).part}${routeOf(name).path}`,
    run: async (trial) => {
      await call(trial, name, typeof asking === "function" ? asking(trial) : asking);
      return undefined;
    },
    advice: `${logOf(name)}; without an error there, at the quota of executions (docs/deploy.md).`,
  }));

const expectSender = ({ replies }: Trial): void => {
  if (replies["get-sign-in"]?.mail !== true) throw new Skipped("there is no sender of e-mail");
};

const scanned = async (trial: Trial, type: string): Promise<string> => {
  const scan = await eventually(trial.signal, 240, async () => {
    const [newest] = (await call(trial, "list-scans")).scans;
    if (newest?.type === type && ["completed", "failed"].includes(newest.status)) return newest;
    throw new Error(`the newest scan is ${newest?.type} and ${newest?.status}`);
  });
  if (scan.status === "failed") throw new Error(scan.errorMessage);
  return `${scan.scannedEmails} checked, ${scan.newBreachesFound} findings`;
};

/** Waits for the newest delivery of a channel. A receiver that refuses has to refuse the second attempt too. */
const delivered = (trial: Trial, id: number, refuses = false): Promise<string> =>
  eventually(trial.signal, 200, async () => {
    const [newest] = (await call(trial, "list-deliveries", { id })).deliveries;
    const { status, failedAttempts, failureReason, waitsFor } = newest;
    if (status === "delivered") return status;
    if (refuses && failedAttempts > 1 && failureReason === "HTTP 401") return "this API has refused it twice";
    const why = failureReason ?? waitsFor?.reason;
    throw new Error(why === undefined ? status : `${status}: ${why}`);
  });

/** The alert of the first channel: a webhook, or e-mail where there is none to post to. */
const firstAlert = (trial: Trial): Promise<string> => {
  if (trial.webhook === undefined) expectSender(trial);
  return delivered(trial, channelOf(trial), trial.webhook?.refuses);
};

/** Writes an alert and sends no message about it. The re-dispatch takes the message for lost after a minute. */
const raiseWithoutMessage = async (trial: Trial): Promise<void> => {
  const channel = await channels.get(trial.org, channelOf(trial));
  if (channel === undefined) throw new Error("the channel is not there");
  const event = { type: "scan_error", error: "This is a test. No scan had a problem." } as const;
  const { writes } = await raiseFor(trial.org, [{ event, channel }]);
  await table.transact(deliveries.writes(trial.org, writes));
};

const queueUrl = ({ stack }: Trial, queue: string): string =>
  String(stack.outputs.DeliveriesQueueUrl).replace(/deliveries$/, queue);

const expectEmpty = async (trial: Trial, queue: string): Promise<undefined> => {
  const counts = ["Messages", "MessagesNotVisible", "MessagesDelayed"] as const;
  const AttributeNames = counts.map((count) => `ApproximateNumberOf${count}` as const);
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl(trial, queue), AttributeNames });
  const { Attributes = {} } = await new SQSClient().send(command);
  const total = Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
  if (total > 0) throw new Error(`${total} messages in the queue ${queue}`);
};

/** A message of any queue about rows that do not exist, so that a worker has nothing to do. */
const messageAboutNothing = (organizationId: number): string => {
  const scan = { scanId: 1, fencingToken: 0, batch: 1, chunk: "1" };
  const ids = { acknowledgementId: 1, mailId: "00000000-0000-4000-8000-000000000000" };
  const delivery = { deliveryId: 1, channelId: 1, attempt: 1 };
  return JSON.stringify(withVersion({ organizationId, ...scan, ...ids, ...delivery }));
};

const queueChecks = queueWorkers.map(
  ({ name, worker: { queue, needsSender } }): Check => ({
    name: `the worker ${name} takes messages`,
    run: async (trial) => {
      if (needsSender === true) expectSender(trial);
      const message = { QueueUrl: queueUrl(trial, queue), MessageBody: messageAboutNothing(trial.org) };
      await new SQSClient().send(new SendMessageCommand(message));
      return eventually(trial.signal, 120, () => expectEmpty(trial, queue));
    },
    advice: `${logOf(name)}. The queue of a stack that is in use may not be empty: test again.`,
  }),
);

/** Those of a list are made at the same time, because they wait, and one list after the other. */
export const checks: readonly (readonly Check[])[] = [
  [
    {
      name: "the dashboard's page",
      run: async (trial) => {
        const reply = await send(trial, "/app/");
        if (reply.status === 200 && (await reply.text()).includes("<!doctype html>")) return undefined;
        throw new Error(`HTTP ${reply.status}`);
      },
      advice: `${logOf("serve-dashboard")}. If nothing answers, look at the name in the output DashboardUrl.`,
    },
    {
      name: "a request without a key is refused",
      run: async (trial) => {
        const { status } = await send(trial, "/v1/emails");
        if (status === 401) return undefined;
        throw new Error(`HTTP ${status} instead of 401`);
      },
      advice: `${logOf("authorize")}, and let nobody use this deployment.`,
    },
  ],
  ...callChecks(calls).map((check) => [check]),
  [
    {
      name: "a directory pushes somebody",
      run: async (trial) => {
        const { token } = trial.replies["connect-directory"] ?? {};
        const reply = await send(trial, "/scim/v2/Users", {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
          body: JSON.stringify({ userName: "deployment-test" }),
        });
        if (reply.status === 201) return undefined;
        throw new Error(`HTTP ${reply.status}`);
      },
      advice: `${logOf("scim")}.`,
    },
    {
      name: "a scan",
      run: async (trial) => {
        idOf(trial, "start-scan", "scanJobId");
        return scanned(trial, "manual");
      },
      advice: `Store the key of Have I Been Pwned (docs/deploy.md). ${logOf("plan-scan and look-up-emails")}.`,
    },
    {
      name: "an alert",
      run: firstAlert,
      advice: `${logOf("deliver-alert and retry-alert")}. A receiver must be public HTTPS and answer 2xx.`,
    },
  ],
  [
    {
      name: "a scheduled scan",
      run: async (trial) => {
        await scheduleEveryMinute(trial.org, trial.stack.outputs);
        return scanned(trial, "scheduled").finally(() => unschedule(trial.org, trial.stack.outputs));
      },
      advice: `${logOf("start-scheduled-scan")}, and at the dead letters (docs/operate.md).`,
    },
    {
      name: "an alert whose message was lost, after two minutes",
      run: async (trial) => {
        await raiseWithoutMessage(trial);
        return firstAlert(trial);
      },
      advice: `${logOf("redispatch-alerts")}, and at its schedule in EventBridge Scheduler.`,
    },
    {
      name: "an alert by e-mail",
      run: async (trial) => {
        expectSender(trial);
        const { id } = await call(trial, "create-alert-config", { body: byMail });
        await call(trial, "test-alert-config", { id });
        return delivered(trial, id);
      },
      advice: `${logOf("deliver-alert")}. SES must have verified the sender in the region of the stack.`,
    },
    {
      name: "Have I Been Pwned",
      run: async (trial) => {
        const { isWorking, plan } = (await call(trial, "get-overview")).upstream;
        if (isWorking) return plan ?? "not asked yet";
        throw new Error("it does not answer, or not with this key");
      },
      advice: `Store its key (docs/deploy.md). ${logOf("sync-catalog")}.`,
    },
  ],
  ...callChecks(lastCalls).map((check) => [check]),
  queueChecks,
  [
    {
      name: "dead letters",
      run: (trial) => expectEmpty(trial, "dead-letters"),
      advice: "Read them (docs/operate.md).",
    },
    {
      name: "alarms",
      run: async (trial) => {
        if (trial.stack.isLocal) throw new Skipped("a local run has none");
        const AlarmNamePrefix = queueUrl(trial, "").replace(/^.*\//, "");
        const reply = await new CloudWatchClient().send(new DescribeAlarmsCommand({ AlarmNamePrefix }));
        const on = reply.MetricAlarms?.filter(({ StateValue }) => StateValue === "ALARM") ?? [];
        if (on.length > 0) throw new Error(`on: ${on.map(({ AlarmName }) => AlarmName).join(", ")}`);
        return `${reply.MetricAlarms?.length}, none is on`;
      },
      advice: "Do what docs/operate.md says. sweep-not-running is on until the first run after a deployment.",
    },
  ],
];
