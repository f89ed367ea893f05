import { expect, onTestFinished, test } from "vitest";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { readNames } from "../../shared/hibp/breach-details.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { addWebhook } from "./add-webhook.ts";
import { admin } from "./admin.ts";
import { eventually } from "./eventually.ts";
import { startOwnService } from "./own-service.ts";

/** At this rate (requests a minute) HIBP answers for all organizations within a minute. */
const organizationCount = 20;
const rpm = 20;

/**
 * Schedules and waiting times pass this many times faster. HIBP's rate is this many times higher, and the
 * machine's own time counts this many times.
 */
const speed = 4;

const targetMinutes = 10;

test("95 % of organizations are alerted within 10 minutes of a breach being listed", async () => {
  const hibp = await startHibpServer();
  onTestFinished(hibp.close);
  hibp.rpm = rpm * speed;
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  process.env.OUTBOUND_ALLOWED_ORIGINS = receiver.origin;
  const options = ["--memory", "--speed", String(speed), "--hibp-url", hibp.url];
  const service = await startOwnService([...options, "--allow-origin", receiver.origin]);
  onTestFinished(service.stop);
  // Connects this process to the service.
  await admin("org create", { name: "First" }, service.apiUrl);
  for (let index = 0; index < organizationCount; index++) {
    const name = `news${index}.example`;
    const { id: org } = await organizations.create({ name, billing: activeBilling, scanEvery: "never" });
    const domain = await domains.create(org, { name, verified: true });
    if (domain === "exists") throw new Error(`The domain ${name} exists`);
    await emails.add(org, { email: `one@${name}`, domainId: domain.id }, administrator);
    await addWebhook(org, `${receiver.origin}/${index}`);
    hibp.covered.push(name);
  }
  await eventually(readNames, (known) => known.has("Beta"));

  for (const name of hibp.covered) hibp.accounts[`one@${name}`] = ["News"];
  hibp.catalog.push(inventedBreach("News"));
  const listedAt = Date.now();
  const alerts = async () =>
    receiver.requests.filter(({ body }) => JSON.parse(body.toString()).type === "breach");
  await eventually(alerts, (all) => all.length >= organizationCount, (60 * 2 * targetMinutes) / speed);
  const minutes = (await alerts())
    .map(({ receivedAt }) => (speed * (receivedAt.getTime() - listedAt)) / 60_000)
    .sort((a, b) => a - b);
  const at = (share: number) => minutes[Math.ceil(share * minutes.length) - 1] as number;
  console.info(
    `minutes to the alert: p50 ${at(0.5).toFixed(1)}, p95 ${at(0.95).toFixed(1)}, last ${at(1).toFixed(1)}`,
  );
  expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(organizationCount);
  expect(at(0.95)).toBeLessThanOrEqual(targetMinutes);
});
