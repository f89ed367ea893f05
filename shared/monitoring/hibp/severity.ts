/**
 * How bad a breach is for the people in it: a function of its flags and data classes. docs/severity.md has the table with the reasons.
 */

import { severityOfClass } from "./data-classes.ts";
import { type Severity, severities } from "./severity-schema.ts";

/** As it is stored in group keys and counts: 4 is critical, 1 is low. Never change it. */
export const levelOf = (severity: Severity): number => severities.length - severities.indexOf(severity);
export const severityAt = (level: number): Severity => severities[severities.length - level] as Severity;

/** The flags and data classes of a breach that its severity and its advice follow from. */
export type Exposure = {
  dataClasses: readonly string[];
  isVerified: boolean;
  isFabricated: boolean;
  isSpamList: boolean;
  isMalware: boolean;
  isStealerLog: boolean;
};

/** The severity of a breach. */
export const severityOf = (breach: Exposure): Severity => {
  if (breach.isStealerLog || breach.isMalware) return "critical";
  if (breach.isSpamList || breach.isFabricated) return "low";
  const levels = breach.dataClasses.map((dataClass) => levelOf(severityOfClass(dataClass)));
  const lowest = levelOf("low");
  return severityAt(Math.max(lowest, Math.max(lowest, ...levels) - (breach.isVerified ? 0 : 1)));
};
