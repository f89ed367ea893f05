import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { slackFaults } from "../alerts/slack-rules.ts";
import { admin, createOrganization, eventually, type Organization, scan } from "./client.ts";
import { receivedAt } from "./receiver.ts";

const createChannel = async ({ api }: Organization, body: Record<string, unknown>): Promise<number> => {
  const created = await api.post("/alert-configs", body);
  expect(created).toMatchObject({ status: 201 });
  return created.body.id as number;
};

const addBreached = async ({ api, domainId }: Organization): Promise<void> => {
  expect(await api.post("/emails", { email: "ada@demo.example", domainId })).toMatchObject({ status: 201 });
};

const deliveriesOf = async ({ id }: Organization, channel: number) =>
  (await admin("delivery list", { org: id, channel })).deliveries as Record<string, unknown>[];

/** The messages in the service's outbox whose text contains something. */
const mailWith = async (text: string): Promise<string[]> => {
  const reply = await fetch(new URL("/.local/stack", inject("apiUrl")));
  const { dataDirectory } = (await reply.json()) as { dataDirectory: string };
  const outbox = join(dataDirectory, "outbox");
  const names = (await readdir(outbox)).filter((name) => name.endsWith(".eml")).sort();
  const messages = await Promise.all(names.map((name) => readFile(join(outbox, name), "utf8")));
  return messages.filter((message) => message.includes(text));
};

const titles = ["Example Games (invented)", "Example Shop (invented)", "Example Travel (invented)"];

describe("an e-mail channel", () => {
  test("gets one message for an e-mail with all of its new breaches, as text and as HTML", async () => {
    const organization = await createOrganization({ name: "<b>Acme & Sons</b>" });
    const recipient = `security-${organization.id}@acme.example`;
    const channel = await createChannel(organization, {
      channel: "email",
      config: { recipients: [recipient] },
    });
    await addBreached(organization);
    await scan(organization.api);

    const [message = ""] = await eventually(
      () => mailWith(recipient),
      (all) => all.length === 1,
    );
    const [head = "", , text = "", html = ""] = message.split(/\r\n\r\n|\r\n--/);
    const deliveries = await eventually(
      () => deliveriesOf(organization, channel),
      ([first]) => first?.status === "delivered",
    );
    expect(deliveries).toMatchObject([{ type: "breach", attempts: 1, failedAttempts: 0 }]);
    expect(head.split("\r\n")).toEqual(
      expect.arrayContaining([
        "From: Breach Monitor <alerts@breach-monitor.example>",
        `To: ${recipient}`,
        "Subject: An e-mail address appeared in 3 data breaches (<b>Acme & Sons</b>)",
        "Auto-Submitted: auto-generated",
        `X-Delivery-Id: ${deliveries[0]?.id}`,
      ]),
    );
    expect(message).toContain('Content-Type: multipart/alternative; boundary="');
    expect(message).toContain("Breach Monitor for <b>Acme & Sons</b>\r\n");
    expect(message).toContain("Breach Monitor for &lt;b&gt;Acme &amp; Sons&lt;/b&gt;<br>");
    expect(text + html).not.toContain("ada@demo.example");
    for (const title of titles) {
      expect(message).toContain(`* ${title}`);
      expect(message).toContain(`<strong>${title}`);
    }
    expect(message.match(/https:\/\/haveibeenpwned\.com/g)).toHaveLength(2);
  });

  test("sends its recipients one message that names none of them to the others", async () => {
    const organization = await createOrganization();
    const recipients = ["a", "b", "c"].map((name) => `${name}-${organization.id}@acme.example`);
    await createChannel(organization, {
      channel: "email",
      config: { recipients },
      notifyOnNewBreach: false,
      notifyOnScanComplete: true,
    });
    await addBreached(organization);
    await scan(organization.api);
    const [message = "", ...more] = await eventually(
      () => mailWith(recipients[0] ?? ""),
      (all) => all.length > 0,
    );
    expect(more).toEqual([]);
    // The outbox keeps the Bcc line, which SES takes out.
    expect(message).toContain(`\r\nBcc: ${recipients.join(", ")}\r\n`);
    expect(message).not.toContain("\r\nTo:");
    expect(message).toContain("Checked 1 of 1 monitored e-mail addresses. New breaches found: 3.");
  });
});

describe("a Slack channel", () => {
  test("gets one message that Slack accepts for an e-mail with all of its new breaches", async () => {
    const organization = await createOrganization({ name: "Acme <!channel>" });
    const webhookUrl = `${inject("receiverUrl")}/slack-${organization.id}`;
    const channel = await createChannel(organization, { channel: "slack", config: { webhookUrl } });
    await addBreached(organization);
    await scan(organization.api);

    const [received] = await eventually(
      () => receivedAt(webhookUrl),
      (all) => all.length === 1,
    );
    expect(received?.headers["content-type"]).toBe("application/json");
    expect(received?.headers).not.toHaveProperty("x-service-signature");
    const body = received?.body.toString("utf8") ?? "";
    const message = JSON.parse(body);
    expect(slackFaults(message)).toEqual([]);
    expect(message.text).toBe("An e-mail address appeared in 3 data breaches (Acme &lt;!channel&gt;)");
    for (const title of titles) expect(body).toContain(`*${title}`);
    expect(body).not.toContain("ada@demo.example");
    expect(body).toContain("<https://haveibeenpwned.com|Have I Been Pwned>");
    await eventually(
      () => deliveriesOf(organization, channel),
      (all) => all.length === 1 && all[0]?.status === "delivered",
    );
  });

  test("that fails is tried again like a webhook", async () => {
    const organization = await createOrganization();
    const inbox = `${inject("receiverUrl")}/slack-${organization.id}`;
    const webhookUrl = `${inbox}?status=503`;
    const channel = await createChannel(organization, { channel: "slack", config: { webhookUrl } });
    await addBreached(organization);
    await scan(organization.api);
    await eventually(
      () => receivedAt(inbox),
      (all) => all.length === 3,
    );
    await eventually(
      () => deliveriesOf(organization, channel),
      ([first]) => first?.failedAttempts === 3 && first.failureReason === "HTTP 503",
    );
  });
});
