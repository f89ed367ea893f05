/** Sums over the parts of a large import. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ImportPlan, ImportRow } from "../../dashboard/api/routes.ts";
import { departedOf, summaryOf } from "../../dashboard/pages/emails/summary.ts";
import { quoteFor } from "../../shared/access/billing/billing.ts";

const terms = { status: "active", reason: null, trialEndsAt: null, interval: "month" } as const;

/** As the service previews one file. */
const planOf = (
  emails: readonly string[],
  monitored: ReadonlySet<string>,
  billing: Parameters<typeof quoteFor>[0],
  activeCount: number,
): ImportPlan => {
  const seen = new Set<string>();
  const rows = emails.map((email): ImportRow => {
    if (!email.includes("@")) return { email, domainId: null, status: "invalid" };
    const status = seen.has(email) ? "duplicate" : monitored.has(email) ? "already_monitored" : "will_import";
    seen.add(email);
    return { email, domainId: 1, status };
  });
  const wanted = rows.filter(({ status }) => status === "will_import").length;
  return { emails: rows, quote: quoteFor(billing, activeCount, wanted) };
};

const inParts = (emails: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(emails.length / size) }, (_, at) =>
    emails.slice(at * size, (at + 1) * size),
  );

test("rows and quote of all parts of an import are those of one part", () => {
  const cases = fc.record({
    emails: fc.array(
      fc.constantFrom(..."abcdefghij").map((name) => `${name}@demo.example`),
      { minLength: 1 },
    ),
    invalid: fc.boolean(),
    monitored: fc.subarray([..."abcdefghij"].map((name) => `${name}@demo.example`)),
    size: fc.integer({ min: 1, max: 10 }),
    activeCount: fc.integer({ min: 0, max: 12 }),
    seatAllowance: fc.option(fc.integer({ min: 0, max: 15 })),
    seatPriceCents: fc.constantFrom(0, 100),
  });
  fc.assert(
    fc.property(cases, ({ emails, invalid, monitored, size, activeCount, ...price }) => {
      const billing = { ...terms, ...price };
      const all = invalid ? ["no address", ...emails, "no address"] : emails;
      const plan = (some: readonly string[]) => planOf(some, new Set(monitored), billing, activeCount);
      const parts = inParts(all, size).map((some) => ({ file: new File([], "part.csv"), plan: plan(some) }));
      const { rows, quote } = summaryOf(parts, { ...billing, activeCount }, false);
      expect({ emails: rows, quote }).toEqual(plan(all));
    }),
  );
});

test("3,000 addresses in six parts are 2,999 seats more than the one that is paid for", () => {
  const emails = Array.from({ length: 3000 }, (_, at) => `u${at}@demo.example`);
  const billing = { ...terms, seatAllowance: null, seatPriceCents: 100 };
  const parts = inParts(emails, 500).map((some) => ({
    file: new File([], "part.csv"),
    plan: planOf(some, new Set(), billing, 0),
  }));
  const { quote } = summaryOf(parts, { ...billing, activeCount: 0 }, false);
  expect(quote).toMatchObject({ newSeatsCount: 3000, estimatedDeltaCents: 299_900 });
});

test("those who have left can be left out of all parts", () => {
  const billing = { ...terms, seatAllowance: null, seatPriceCents: 0 };
  const parts = [
    ["a@demo.example", "b@demo.example"],
    ["c@demo.example"],
    ["c@demo.example", "b@demo.example"],
  ].map((some) => ({
    file: new File([], "part.csv"),
    plan: {
      ...planOf(some, new Set(), billing, 5),
      columns: {
        used: [],
        ignored: [],
        withoutAddress: [],
        departed: some.slice(-1).map((email) => ({ email, heading: "Status", value: "left" })),
      },
    },
  }));
  const { rows, quote } = summaryOf(parts, { ...billing, activeCount: 5 }, true);
  // One of the third part has come back.
  expect(departedOf(parts).map(({ email }) => email)).toEqual(["b@demo.example"]);
  expect(rows.map(({ email, status }) => [email, status])).toEqual([
    ["a@demo.example", "will_import"],
    ["c@demo.example", "will_import"],
    ["c@demo.example", "duplicate"],
  ]);
  expect(quote.newActiveCount).toBe(7);
});
