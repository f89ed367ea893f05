/** A scan that finds 1,090 people makes few messages for people, the first of them soon, and every event for webhooks. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { slackFaults } from "../alerting/slack-rules.ts";
import { writeAddresses } from "./addresses-file.ts";
import { admin } from "./admin.ts";
import { createChannel } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { readLocalStack } from "./local-stack.ts";
import { createOrganization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

const people = 1_090;
const channelsOfKind = 3;
const mostMessages = 5;
const firstWithinSeconds = 120;

/** Looking up all addresses one after the other takes longer than the first message may. */
const rpm = 400;
const scanSeconds = 600;

type Arrived = { text: string; at: Date };

/** Without copies of the same message: a function that a busy machine stops while it sends is started again. */
const different = (all: readonly Arrived[]): Arrived[] => [
  ...new Map(
    all.map((each) => [/\r\nX-Delivery-Id: (.*)\r\n/.exec(each.text)?.[1] ?? each.text, each]),
  ).values(),
];

test.each([
  ["whole", "covered.example"],
  ["address by address", "single.example"],
])(
  "a scan of a domain %s makes at most five messages, the first in two minutes",
  async (_, domain) => {
    const hibp = await startHibpServer();
    onTestFinished(hibp.close);
    hibp.covered = ["first.example", "covered.example"];
    hibp.rpm = rpm;
    const receiver = await startReceiver({
      respond: (_request, response) => response.writeHead(200).end("ok"),
    });
    onTestFinished(receiver.close);
    const options = ["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin];
    const service = await startOwnService(options);
    onTestFinished(service.stop);
    const { apiUrl } = service;
    const { api, id: org, domainId } = await createOrganization({}, { domain: "first.example", apiUrl });

    // The first scan of an organization is told in another way.
    await api.post("/emails", { email: "one@first.example", domainId });
    await scan(api);
    await admin("domain add", { org, name: domain, verified: true }, apiUrl);
    const addresses = Array.from({ length: people }, (_, index) => `user${index}@${domain}`);
    await admin("email import", { org, file: await writeAddresses(addresses) }, apiUrl);
    const names = Array.from({ length: channelsOfKind }, (_, index) => `channel${index}`);
    for (const name of names) {
      const webhookUrl = `${receiver.origin}/slack-${name}`;
      await createChannel(api, { channel: "slack", config: { webhookUrl } });
      await createChannel(api, { channel: "email", config: { recipients: [`${name}@acme.example`] } });
      const url = `${receiver.origin}/webhook-${name}`;
      await createChannel(api, { channel: "webhook", config: { url } });
    }
    hibp.accounts = Object.fromEntries(addresses.map((address) => [address, ["Alpha"]]));
    expect(await scan(api, scanSeconds)).toMatchObject({ status: "completed", newBreachesFound: people });

    const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path);
    for (const name of names)
      await eventually(
        async () => receivedAt(`/webhook-${name}`),
        (all) => all.length >= people,
      );
    const outbox = join((await readLocalStack(apiUrl)).dataDirectory, "outbox");
    const mails = async () =>
      Promise.all(
        (await readdir(outbox)).sort().map(async (file) => ({
          text: await readFile(join(outbox, file), "utf8"),
          at: (await stat(join(outbox, file))).mtime,
        })),
      );
    const said = `New in all: ${people.toLocaleString("en-US")} findings of ${people.toLocaleString("en-US")} people.`;
    const isLast = ({ text }: Arrived): boolean => text.includes(said);
    await eventually(mails, (all) => different(all).filter(isLast).length === channelsOfKind);
    const [oldest] = (await api.get(`/breaches?limit=1&offset=${people - 1}`)).body.breaches as {
      firstDetectedAt: string;
    }[];
    const foundAt = Date.parse(oldest?.firstDetectedAt ?? "");
    const sent = await mails();
    for (const name of names) {
      const slack = receivedAt(`/slack-${name}`).map(({ body, receivedAt }) => ({
        text: body.toString("utf8"),
        at: receivedAt,
      }));
      for (const { text } of slack) expect(slackFaults(JSON.parse(text))).toEqual([]);
      const mailed = sent.filter(({ text }) => text.includes(`\r\nTo: ${name}@acme.example\r\n`));
      for (const all of [different(slack), different(mailed)]) {
        expect(all.length).toBeGreaterThan(1);
        expect(all.length).toBeLessThanOrEqual(mostMessages);
        expect(all.filter(isLast)).toHaveLength(1);
        const seconds = (Math.min(...all.map(({ at }) => at.getTime())) - foundAt) / 1000;
        console.info(
          `${domain}: ${all.length} messages, the first ${seconds.toFixed(1)} s after the first finding`,
        );
        expect(seconds).toBeLessThanOrEqual(firstWithinSeconds);
      }
      const ids = receivedAt(`/webhook-${name}`).map(({ body }) => JSON.parse(body.toString()).id);
      expect(new Set(ids).size).toBe(people);
    }
  },
  2 * scanSeconds * 1000,
);
