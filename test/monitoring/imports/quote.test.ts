import fc from "fast-check";
import { expect, test } from "vitest";
import { enabledOf, quoteFor } from "../../../shared/access/billing/billing.ts";

const count = fc.integer({ min: 0, max: 2000 });
const billing = fc.record({
  status: fc.constant("active" as const),
  trialEndsAt: fc.constant(null),
  interval: fc.constantFrom("month" as const, "year" as const),
  seatPriceCents: count,
  seatAllowance: fc.option(count),
});

test("a quote has totals after the import, at least one seat, and the added price", () => {
  fc.assert(
    fc.property(billing, count, count, (given, active, wanted) => {
      const quote = quoteFor(given, active, wanted);
      const enabled = enabledOf(given, active, wanted);
      expect(quote.newActiveCount).toBe(active + enabled);
      expect(quote.newSeatsCount).toBe(Math.max(1, active + enabled));
      expect(quote.estimatedDeltaCents).toBe(
        (quote.newSeatsCount - Math.max(1, active)) * given.seatPriceCents,
      );
      expect(quote).toMatchObject({ interval: given.interval, isEstimate: true });
    }),
  );
});

test("an import enables as many addresses as the seat allowance leaves", () => {
  fc.assert(
    fc.property(billing, count, count, (given, active, wanted) => {
      const enabled = enabledOf(given, active, wanted);
      const { seatAllowance } = given;
      if (seatAllowance === null) expect(enabled).toBe(wanted);
      else if (active >= seatAllowance) expect(enabled).toBe(0);
      else expect(enabled).toBe(Math.min(wanted, seatAllowance - active));
    }),
  );
});
