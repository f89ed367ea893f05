import { describe, expect, inject, test } from "vitest";
import { mailsTo } from "../dashboard/outbox.ts";
import { admin } from "./admin.ts";
import { addBreachedEmail, createChannel, inboxOf, listDeliveries } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { waitForRequests } from "./receiver.ts";
import { scan } from "./scan.ts";

const titles = ["Example Games (invented)", "Example Shop (invented)", "Example Travel (invented)"];

describe("an e-mail channel", () => {
  test("gets one message that says whose address is in which breaches", async () => {
    const organization = await createOrganization({ name: "<b>Acme & Sons</b>" });
    const recipient = `security-${organization.id}@acme.example`;
    const channel = await createChannel(organization.api, {
      channel: "email",
      config: { recipients: [recipient] },
    });
    const emailId = await addBreachedEmail(organization);
    await scan(organization.api);

    const [message = ""] = await eventually(
      () => mailsTo(recipient),
      (all) => all.length === 1,
    );
    const [head = ""] = message.split("\r\n\r\n");
    const deliveries = await eventually(
      () => listDeliveries(organization, channel),
      ([first]) => first?.status === "delivered",
    );
    expect(deliveries).toMatchObject([{ type: "breach", attempts: 1, failedAttempts: 0 }]);
    expect(head.split("\r\n")).toEqual(
      expect.arrayContaining([
        "From: Breach Monitor <alerts@breach-monitor.example>",
        `To: ${recipient}`,
        expect.stringMatching(/^Subject: \w+: .* and 2 more, .* of 1 person at <b>Acme & Sons<\/b>$/),
        expect.stringMatching(/^References: <scan-\d+@breach-monitor\.invalid>$/),
        "Auto-Submitted: auto-generated",
        `X-Delivery-Id: ${deliveries[0]?.id}`,
      ]),
    );
    for (const title of titles) expect(message).toContain(`* ${title} (`);
    const findingsUrl = `${new URL(inject("apiUrl")).origin}/api/app/findings?emailId=${emailId}`;
    expect(message).toContain(`See the findings of this address: ${findingsUrl}\r\n`);
  });

  test("does not name an address that was removed before the message was sent", async () => {
    const organization = await createOrganization();
    const { api, id: org } = organization;
    const inbox = inboxOf(organization, "slack-that-fails");
    const channel = await createChannel(api, {
      channel: "slack",
      config: { webhookUrl: `${inbox}?status=503` },
    });
    const emailId = await addBreachedEmail(organization, { ownerName: "Ada Lovelace" });
    await scan(api);
    const [failed] = await waitForRequests(inbox, 3);
    expect(failed?.body.toString("utf8")).toContain("Address: ada@demo.example\\nOwner: Ada Lovelace");
    const [delivery] = await eventually(
      () => listDeliveries(organization, channel),
      ([first]) => first?.failedAttempts === 3,
    );
    expect(await api.delete(`/emails?id=${emailId}`)).toMatchObject({ status: 200 });
    const recipients = [`late-${org}@acme.example`];
    const changed = await api.patch(`/alert-configs/${channel}`, {
      channel: "email",
      config: { recipients },
    });
    expect(changed).toMatchObject({ status: 200 });
    await admin("delivery retry", { org, delivery: delivery?.id ?? 0 });
    const [message = ""] = await eventually(
      () => mailsTo(recipients[0] ?? ""),
      (all) => all.length === 1,
    );
    expect(message).toMatch(
      /\r\nSubject: \w+: An address that is no longer monitored appeared in 3 data breaches \(Test\)\r\n/,
    );
    for (const title of titles) expect(message).toContain(`* ${title}`);
    expect(message).not.toMatch(/ada@demo|Lovelace|\/api\/app\/findings/);
  });
});
