/** Times of a domain's proof, in seconds. */

/** A proved domain's record is looked up this often. */
export const proofDaySeconds = 24 * 60 * 60;

/** A domain whose record is missing for this long is no longer verified. */
export const proofLossSeconds = 3 * proofDaySeconds;
