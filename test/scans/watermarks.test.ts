import fc from "fast-check";
import { expect, test } from "vitest";
import { rangeName, watermarkFor, watermarksWithin } from "../../shared/emails/watermark.ts";
import type { Domain } from "../../shared/organizations/domain.ts";

const scan = (checkedBy: number) => ({ checkedBy, checkedAt: `2030-01-01T00:00:0${checkedBy}.000Z` });

/** Ranges that do not overlap, as scans leave them behind, each with the watermark that holds there. */
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

test("what a scan does not reach keeps, id by id, the watermark that it had, however often scans are cut off", () => {
  fc.assert(
    fc.property(staleRanges, fc.integer({ min: 1, max: 40 }), fc.nat(20), (stale, fromId, length) => {
      const before = { ...scan(9), stale } as unknown as Domain;
      const toId = fromId + length;
      const within = watermarksWithin({ fromId, toId }, before);
      const after = { ...scan(10), stale: within } as unknown as Domain;
      for (let id = 1; id <= 70; id++) {
        const isLeft = id >= fromId && id <= toId;
        const { checkedBy, checkedAt } = watermarkFor(id, isLeft ? before : after);
        expect(watermarkFor(id, after)).toMatchObject({ checkedBy, checkedAt });
        if (!isLeft) expect(checkedBy).toBe(10);
      }
    }),
  );
});
