/** The date of a breach without a valid one, since replies must have a date. */
export const unknownDate = "1970-01-01";
