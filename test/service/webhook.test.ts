import { timingSafeEqual } from "node:crypto";
import { describe, expect, test } from "vitest";
import { admin } from "./admin.ts";
import { addBreachedEmail, inboxOf, signatureOf } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { type Received, waitForRequests } from "./receiver.ts";
import { scan } from "./scan.ts";

/** Whether a request is signed as a receiver has to check it: with a comparison in constant time. */
const isSigned = ({ body, headers }: Received, secret: string): boolean => {
  const expected = Buffer.from(signatureOf(body, secret));
  const given = Buffer.from(headers["x-service-signature"] ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
};

describe("a webhook channel", () => {
  test("receives one signed breach event for an email with all of its new breaches", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization, "webhook");
    const secret = "a secret of the receiver";
    const created = await organization.api.post("/alert-configs", {
      channel: "webhook",
      config: { url, secret },
    });
    expect(created.status).toBe(201);
    await addBreachedEmail(organization);
    await scan(organization.api);

    const [received] = await waitForRequests(url, 1);
    expect(received?.headers["content-type"]).toBe("application/json");
    expect(isSigned(received as Received, secret)).toBe(true);
    expect(isSigned(received as Received, "another")).toBe(false);
    expect(received?.headers.accept).toBe("*/*");
    const event = JSON.parse(received?.body.toString("utf8") ?? "");
    expect(Object.keys(event)).toEqual(["id", "type", "timestamp", "data"]);
    expect(event).toMatchObject({ id: expect.any(Number), type: "breach" });
    expect(received?.headers).toMatchObject({
      "webhook-id": String(event.id),
      "webhook-timestamp": String(Math.floor(Date.parse(event.timestamp) / 1_000)),
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(Date.now() - Date.parse(event.timestamp)).toBeLessThan(60_000);
    const { breaches } = (await organization.api.get("/breaches")).body as {
      breaches: { breach: Record<string, unknown> }[];
    };
    const expected = breaches.map(({ breach: { id, title, domain, dataClasses } }) => ({
      breachId: id,
      title,
      domain,
      dataClasses,
    }));
    expect(event.data.breaches).toHaveLength(expected.length);
    expect(event.data.breaches).toEqual(expect.arrayContaining(expected));

    // A second scan finds nothing new and sends no alert.
    await scan(organization.api);
    const { deliveries } = await admin("delivery list", {
      org: organization.id,
      channel: created.body.id as number,
    });
    expect(deliveries).toMatchObject([{ id: event.id, status: "delivered", attempts: 1, failedAttempts: 0 }]);
  });

  test("without a secret gets deliveries without a header of a signature", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization, "webhook");
    await organization.api.post("/alert-configs", { channel: "webhook", config: { url } });
    await addBreachedEmail(organization);
    await scan(organization.api);
    const [received] = await waitForRequests(url, 1);
    for (const name of ["x-service-signature", "webhook-id", "webhook-timestamp", "webhook-signature"])
      expect(received?.headers).not.toHaveProperty(name);
    expect(received?.headers.accept).toBe("*/*");
  });

  test("that wants scan_complete gets the counts of the scan", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization, "webhook");
    const flags = { notifyOnNewBreach: false, notifyOnScanComplete: true };
    await organization.api.post("/alert-configs", { channel: "webhook", config: { url }, ...flags });
    await addBreachedEmail(organization);
    await scan(organization.api);
    const [received] = await waitForRequests(url, 1);
    expect(JSON.parse(received?.body.toString("utf8") ?? "")).toMatchObject({
      type: "scan_complete",
      data: { scannedCount: 1, newBreachCount: 3, failedCount: 0, totalEmails: 1 },
    });
  });

  test("that fails gets two retries after 1 and 2 s, with one id and fresh signatures", async () => {
    const organization = await createOrganization();
    const url = `${inboxOf(organization, "webhook")}?status=500`;
    const secret = "s";
    const created = await organization.api.post("/alert-configs", {
      channel: "webhook",
      config: { url, secret },
    });
    await addBreachedEmail(organization);
    await scan(organization.api);
    const received = await waitForRequests(inboxOf(organization, "webhook"), 3);
    const events = received.map(({ body }) => JSON.parse(body.toString("utf8")));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(3);
    for (const request of received) expect(isSigned(request, secret)).toBe(true);
    const [first = 0, second = 0, third = 0] = received.map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(900);
    expect(third - second).toBeGreaterThanOrEqual(1900);
    const list = () => admin("delivery list", { org: organization.id, channel: created.body.id as number });
    const { deliveries } = await eventually(list, (listed) =>
      (listed.deliveries as { failedAttempts: number }[]).every(({ failedAttempts }) => failedAttempts === 3),
    );
    expect(deliveries).toMatchObject([
      { status: "retrying", attempts: 3, failedAttempts: 3, failureReason: "HTTP 500" },
    ]);
  });
});
