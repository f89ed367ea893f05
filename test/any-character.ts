import fc from "fast-check";

/**
 * For `fc.string`. fast-check's own units for all of Unicode take over a second of a processor in each
 * process.
 */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  )
  .map((point) => String.fromCodePoint(point));
