/**
 * Versions of stored rows and of messages. Every row, every message and every input of a schedule carries the
 * number of its form as `v`. Releases may add attributes that older ones ignore. A form that older ones would
 * misread takes the next number, of one sequence for all kinds
 * (docs/decisions/0037-versions-of-what-is-stored.md).
 */

/** The name of the attribute, in rows and in JSON. */
export const versionAttribute = "v";

/** The version of every form that this release writes, and the highest that it reads. */
export const newestVersion = 1;

/** What is written, with its version. */
export const withVersion = <T extends object>(what: T): T => ({
  [versionAttribute]: newestVersion,
  ...what,
});

/** What was read is of a release after this one, which leaves it alone. */
export class NewerVersion extends Error {
  constructor(what: "row" | "message", version: unknown) {
    super(
      `A ${what} has version ${String(version)}, and this release reads versions up to ` +
        `${newestVersion}: deploy the release that wrote the ${what}`,
    );
    this.name = "NewerVersion";
  }
}

/** Throws `NewerVersion` unless this release reads the version. */
export const requireKnown = (what: "row" | "message", version: unknown): void => {
  const isKnown = version === undefined || (typeof version === "number" && version <= newestVersion);
  if (!isKnown) throw new NewerVersion(what, version);
};
