import { createHmac, timingSafeEqual } from "node:crypto";
import { describe, expect, inject, test } from "vitest";
import { admin, createOrganization, eventually, type Organization, scan } from "./client.ts";
import { receivedAt } from "./receiver.ts";

/** Written from interface.md "Signature" alone. */
const isSigned = (body: Buffer, signature: string | undefined, secret: string): boolean => {
  const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
  const given = Buffer.from(signature ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
};

const addBreached = async ({ api, domainId }: Organization): Promise<void> => {
  const added = await api.post("/emails", { email: "ada@demo.example", domainId });
  expect(added.status).toBe(201);
};

const inboxOf = ({ id }: Organization): string => `${inject("receiverUrl")}/webhook-${id}`;

describe("a webhook channel", () => {
  test("receives one signed breach event for an email with all of its new breaches", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization);
    const secret = "a secret of the receiver";
    const created = await organization.api.post("/alert-configs", {
      channel: "webhook",
      config: { url, secret },
    });
    expect(created.status).toBe(201);
    await addBreached(organization);
    await scan(organization.api);

    const [received] = await eventually(
      () => receivedAt(url),
      (all) => all.length === 1,
    );
    expect(received?.headers["content-type"]).toBe("application/json");
    expect(isSigned(received?.body ?? Buffer.of(), received?.headers["x-service-signature"], secret)).toBe(
      true,
    );
    expect(isSigned(received?.body ?? Buffer.of(), received?.headers["x-service-signature"], "another")).toBe(
      false,
    );
    const event = JSON.parse(received?.body.toString("utf8") ?? "");
    expect(Object.keys(event)).toEqual(["id", "type", "timestamp", "data"]);
    expect(event).toMatchObject({ id: expect.any(Number), type: "breach" });
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

    // Nothing new: a second scan alerts nobody.
    await scan(organization.api);
    const { deliveries } = await admin("delivery list", {
      org: organization.id,
      channel: created.body.id as number,
    });
    expect(deliveries).toMatchObject([{ id: event.id, status: "delivered", attempts: 1, failedAttempts: 0 }]);
  });

  test("without a secret gets deliveries without a signature header", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization);
    await organization.api.post("/alert-configs", { channel: "webhook", config: { url } });
    await addBreached(organization);
    await scan(organization.api);
    const [received] = await eventually(
      () => receivedAt(url),
      (all) => all.length === 1,
    );
    expect(received?.headers).not.toHaveProperty("x-service-signature");
  });

  test("that wants scan_complete gets the counts of the scan", async () => {
    const organization = await createOrganization();
    const url = inboxOf(organization);
    const flags = { notifyOnNewBreach: false, notifyOnScanComplete: true };
    await organization.api.post("/alert-configs", { channel: "webhook", config: { url }, ...flags });
    await addBreached(organization);
    await scan(organization.api);
    const [received] = await eventually(
      () => receivedAt(url),
      (all) => all.length === 1,
    );
    expect(JSON.parse(received?.body.toString("utf8") ?? "")).toMatchObject({
      type: "scan_complete",
      data: { scannedCount: 1, newBreachCount: 3, failedCount: 0, totalEmails: 1 },
    });
  });

  test("that fails gets two retries after about 1 s and about 2 s, with one id and a fresh timestamp and signature", async () => {
    const organization = await createOrganization();
    const url = `${inboxOf(organization)}?status=500`;
    const secret = "s";
    const created = await organization.api.post("/alert-configs", {
      channel: "webhook",
      config: { url, secret },
    });
    await addBreached(organization);
    await scan(organization.api);
    const received = await eventually(
      () => receivedAt(inboxOf(organization)),
      (all) => all.length === 3,
    );
    const events = received.map(({ body }) => JSON.parse(body.toString("utf8")));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(3);
    for (const { body, headers } of received) {
      expect(isSigned(body, headers["x-service-signature"], secret)).toBe(true);
    }
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
