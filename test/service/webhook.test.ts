import { describe, expect, test } from "vitest";
import { admin } from "./admin.ts";
import { addBreachedEmail, expectSignedWith, inboxOf } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { type Received, waitForRequests } from "./receiver.ts";
import { scan } from "./scan.ts";

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
    expectSignedWith(received as Received, secret);
    expect(received?.headers.accept).toBe("*/*");
    const event = JSON.parse(received?.body.toString("utf8") ?? "");
    expect(Object.keys(event)).toEqual(["id", "type", "timestamp", "data"]);
    expect(event).toMatchObject({ id: expect.any(Number), type: "breach" });
    expect(received?.headers).toMatchObject({
      "webhook-id": String(event.id),
      "webhook-timestamp": String(Math.floor(Date.parse(event.timestamp) / 1_000)),
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
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
    for (const request of received) expectSignedWith(request, secret);
    // An event tells when its attempt began.
    const [first = 0, second = 0, third = 0] = events.map(({ timestamp }) => Date.parse(timestamp));
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(third - second).toBeGreaterThanOrEqual(2_000);
    const list = () => admin("delivery list", { org: organization.id, channel: created.body.id as number });
    const { deliveries } = await eventually(list, (listed) =>
      (listed.deliveries as { failedAttempts: number }[]).every(({ failedAttempts }) => failedAttempts === 3),
    );
    expect(deliveries).toMatchObject([
      { status: "retrying", attempts: 3, failedAttempts: 3, failureReason: "HTTP 500" },
    ]);
  });
});
