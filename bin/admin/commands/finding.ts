import { setTimeout } from "node:timers/promises";
import * as z from "zod/mini";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import {
  type Acknowledgement,
  type AcknowledgementRequest,
  acknowledgementRequest,
  type FindingFilter,
} from "../../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { acknowledgeReason, resolution } from "../../../shared/findings/finding-schema.ts";
import type { Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, oneOf, parse, parseId, parseTime } from "../flags.ts";
import { showProgress } from "../progress.ts";

const state = z.enum(["true", "false"]);

export const findingCommands: Commands = {
  "finding acknowledge": {
    about: "Acknowledges findings: those with given ids, those that match all given filters, or --all.",
    flags: {
      org: "required ID",
      ids: "optional ID,ID...",
      all: "switch",
      acknowledged: `optional ${oneOf(state)}`,
      breach: "optional ID",
      domain: "optional ID",
      email: "optional ID",
      scan: "optional ID",
      before: "optional TIME",
      resolution: `optional ${oneOf(resolution)}`,
      reason: "optional TEXT",
      "dry-run": "switch",
    },
    isAct: true,
    run: async (flags, _, also) => {
      const { id: org } = await findOrganization(flags);
      const request = readRequest(flags);
      if (flags["dry-run"] !== undefined)
        return { matching: await acknowledgements.countMatching(org, request) };
      const { id } = await acknowledgements.request(org, request, administrator, also);
      return untilEnded(org, id);
    },
    isWrong: ({ status }: Partial<Acknowledgement>) => status === "failed",
  },
};

/** The request that the flags make. Everything is meant only when --all says so. */
const readRequest = (flags: Flags): AcknowledgementRequest => {
  const filter: FindingFilter = {
    ...(flags.acknowledged !== undefined && {
      acknowledged: parse("acknowledged", state, flags.acknowledged) === "true",
    }),
    ...(flags.breach !== undefined && { breachId: parseId("breach", flags) }),
    ...(flags.domain !== undefined && { domainId: parseId("domain", flags) }),
    ...(flags.email !== undefined && { emailId: parseId("email", flags) }),
    ...(flags.scan !== undefined && { scanId: parseId("scan", flags) }),
    ...(flags.before !== undefined && { detectedBefore: parseTime("before", flags.before) }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  if ([flags.ids !== undefined, flags.all !== undefined, isFiltered].filter(Boolean).length !== 1) {
    throw new CommandError("Give --ids, or --all, or filters such as --scan, and only one of these three.");
  }
  const how = {
    resolution:
      flags.resolution === undefined ? "handled" : parse("resolution", resolution, flags.resolution),
    ...(flags.reason !== undefined && { reason: parse("reason", acknowledgeReason, flags.reason) }),
  };
  const { ids } = acknowledgementRequest.shape;
  return flags.ids === undefined
    ? { filter, ...how, dryRun: false }
    : { ids: parse("ids", ids, flags.ids.split(",").map(Number)), ...how, dryRun: false };
};

const lookAgainMilliseconds = 500;

/** Waits until a request has ended, and shows how far it is if standard error is a terminal. */
const untilEnded = async (org: number, id: number): Promise<Acknowledgement> => {
  for (;;) {
    const acknowledgement = await acknowledgements.get(org, id);
    const hasEnded = acknowledgement.status !== "running";
    showProgress(`${acknowledgement.acknowledged} of ${acknowledgement.matching} acknowledged`);
    if (hasEnded) return acknowledgement;
    await setTimeout(lookAgainMilliseconds);
  }
};
