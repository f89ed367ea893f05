import fc from "fast-check";
import { expect, test } from "vitest";
import type { Domain } from "../../shared/monitoring/domains/domain-row.ts";
import { rangeName, watermarkFor, watermarksWithin } from "../../shared/monitoring/emails/watermark.ts";

const scan = (checkedByScan: number) => ({
  checkedByScan,
  checkedAt: `2030-01-01T00:00:0${checkedByScan}.000Z`,
});

/** Ranges that do not overlap, each with its watermark, as scans that end early leave them on a domain. */
const staleRanges = fc
  .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 })
  .map((ends) => ends.sort((a, b) => a - b))
  .chain((ends) =>
    fc
      .tuple(...ends.map(() => fc.integer({ min: 0, max: 8 })))
      .map((scans) =>
        Object.fromEntries(
          ends
            .flatMap((end, index) => (index % 2 === 0 && ends[index + 1] !== undefined ? [[end, index]] : []))
            .map(([first = 0, index = 0]) => [
              rangeName(first, ends[index + 1] ?? 0),
              scan(scans[index] ?? 0),
            ]),
        ),
      ),
  );

test("ids that a scan does not reach keep their watermark, over any number of scans", () => {
  fc.assert(
    fc.property(staleRanges, fc.integer({ min: 1, max: 40 }), fc.nat(20), (stale, fromId, length) => {
      const before = { ...scan(9), stale } as unknown as Domain;
      const toId = fromId + length;
      const within = watermarksWithin({ fromId, toId }, before);
      const after = { ...scan(10), stale: within } as unknown as Domain;
      for (let id = 1; id <= 70; id++) {
        const isLeft = id >= fromId && id <= toId;
        const { checkedByScan, checkedAt } = watermarkFor(id, isLeft ? before : after);
        expect(watermarkFor(id, after)).toMatchObject({ checkedByScan, checkedAt });
        if (!isLeft) expect(checkedByScan).toBe(10);
      }
    }),
  );
});
