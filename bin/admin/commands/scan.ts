import * as organizations from "../../../shared/access/organizations/organization.ts";
import { scanFrequency } from "../../../shared/access/organizations/organization-schema.ts";
import { schedule } from "../../../shared/access/organizations/scan-schedule.ts";
import * as scanList from "../../../shared/scanning/scan-list.ts";
import { type Scan, scanStatus } from "../../../shared/scanning/scan-schema.ts";
import type { Commands } from "../command.ts";
import { findOrganization, nextPage, oneOf, parse, parsePage } from "../flags.ts";
import { pick, printPage } from "../print.ts";

export const scanCommands: Commands = {
  "scan list": {
    about:
      "Lists the scans of the last 365 days, newest first, 100 unless --limit says otherwise (1000 at most).",
    flags: {
      org: "required ID",
      status: `optional ${oneOf(scanStatus)}`,
      limit: "optional N",
      offset: "optional N",
    },
    run: async (flags) => {
      const page = parsePage(flags);
      const status = flags.status === undefined ? undefined : parse("status", scanStatus, flags.status);
      const { id: org } = await findOrganization(flags);
      const { scans: listed, total } = await scanList.list(org, { ...page, status }, new Date());
      return { scans: listed.map(shown), ...nextPage(page, total > page.offset + page.limit) };
    },
    print: printPage,
  },
  "scan schedule": {
    about: "Sets how often the organization is scanned.",
    flags: { org: "required ID", every: `required ${oneOf(scanFrequency)}` },
    isAct: true,
    run: async (flags, stack) => {
      const { id } = await findOrganization(flags);
      const every = parse("every", scanFrequency, flags.every);
      await organizations.set(id, {
        scanEvery: every,
        firstScanAt: await schedule(id, every, stack.outputs),
      });
      return { id, scanEvery: every };
    },
  },
};

const shown = (scan: Scan) => ({
  ...pick(scan, "id", "type", "status", "scannedEmails", "totalEmails", "newBreachesFound"),
  ...pick(scan, "createdAt", "completedAt", "errorMessage"),
});
