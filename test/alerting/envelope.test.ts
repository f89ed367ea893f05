import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../shared/alerting/kinds/events.ts";
import { urlPreview } from "../../shared/alerting/kinds/url-preview.ts";
import { envelope } from "../../shared/alerting/kinds/webhook/envelope.ts";
import { anyCharacter } from "../any-character.ts";

const at = new Date("2026-01-02T03:04:05.006Z");

const events: Event[] = [
  {
    type: "breach",
    data: { breaches: [{ breachId: 7, title: "Ä <b>", domain: "a.example", dataClasses: ["Passwords"] }] },
  },
  { type: "scan_complete", data: { scannedCount: 9, newBreachCount: 1, failedCount: 0, totalEmails: 9 } },
  { type: "scan_error", data: { error: "2 addresses could not be scanned" } },
];

describe("envelope", () => {
  test.each(events)("of $type is id, type, timestamp and data, and nothing else", (event) => {
    expect(JSON.parse(envelope({ ...event, id: 41, at }))).toEqual({
      id: 41,
      type: event.type,
      timestamp: "2026-01-02T03:04:05.006Z",
      data: event.data,
    });
  });

  test("leaves out fields that the schema does not name", () => {
    const more = { breachId: 7, title: "A", domain: "", dataClasses: [], email: "person@acme.example" };
    const text = envelope({ type: "breach", data: { breaches: [more] }, id: 41, at });
    expect(text).not.toContain("person@acme.example");
  });

  test("throws on data of another type, and on an empty list of breaches", () => {
    const wrong = { ...events[2], type: "breach" } as Event;
    expect(() => envelope({ ...wrong, id: 41, at })).toThrow();
    expect(() => envelope({ type: "breach", data: { breaches: [] }, id: 41, at })).toThrow();
  });
});

describe("urlPreview", () => {
  test.each([
    ["https://hooks.acme.io", "https://hooks.acme.io"],
    ["https://hooks.acme.io/", "https://hooks.acme.io"],
    ["https://hooks.acme.io/?token=s3cret", "https://hooks.acme.io"],
    ["https://hooks.acme.io?token=s3cret", "https://hooks.acme.io"],
    ["https://hooks.acme.io/#s3cret", "https://hooks.acme.io"],
    ["https://hooks.acme.io/s3cret", "https://hooks.acme.io/..."],
    ["https://hooks.acme.io//", "https://hooks.acme.io/..."],
    ["HTTPS://Hooks.Acme.io:8443/a/b?c", "https://hooks.acme.io:8443/..."],
    ["https://hooks.acme.io:443/a", "https://hooks.acme.io/..."],
    ["https://[2606:4700::1]:8443/a", "https://[2606:4700::1]:8443/..."],
  ])("%s → %s", (url, preview) => expect(urlPreview(url)).toBe(preview));

  test("discloses nothing of path, query or fragment", () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat(65_535), fc.string({ unit: anyCharacter }), (host, port, rest) => {
        const url = `https://${host}:${port}/${rest}`;
        const { origin } = new URL(url);
        return [origin, `${origin}/...`].includes(urlPreview(url));
      }),
    );
  });
});
