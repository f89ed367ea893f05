import type { Finding } from "../../api/routes.ts";

/** Of how many people findings are. */
export const peopleOf = (findings: readonly Finding[]): number =>
  new Set(findings.map(({ emailId }) => emailId)).size;
