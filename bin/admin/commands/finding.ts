import { setTimeout } from "node:timers/promises";
import * as z from "zod/mini";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import {
  type Acknowledgement,
  type AcknowledgementRequest,
  acknowledgementRequest,
  type FindingFilter,
  type Reopening,
} from "../../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { acknowledgeReason, resolution } from "../../../shared/findings/finding-schema.ts";
import { severity } from "../../../shared/monitoring/hibp/severity-schema.ts";
import type { Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, oneOf, parse, parseId, parseTime } from "../flags.ts";
import { showProgress } from "../progress.ts";

const state = z.enum(["true", "false"]);

const flags = {
  org: "required ID",
  ids: "optional ID,ID...",
  all: "switch",
  acknowledged: `optional ${oneOf(state)}`,
  breach: "optional ID",
  domain: "optional ID",
  email: "optional ID",
  severity: "optional LEVEL,LEVEL...",
  scan: "optional ID",
  before: "optional TIME",
  reason: "optional TEXT",
  "dry-run": "switch",
} as const;

/** A dry run only counts. */
const isAct = (given: Flags): boolean => given["dry-run"] === undefined;

export const findingCommands: Commands = {
  "finding acknowledge": {
    about: "Acknowledges findings: those with given ids, those that match all given filters, or --all.",
    flags: { ...flags, resolution: `optional ${oneOf(resolution)}` },
    isAct,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const request = {
        ...readRequest(flags),
        resolution: parse("resolution", resolution, flags.resolution ?? "handled"),
      };
      if (flags["dry-run"] !== undefined)
        return { matching: await acknowledgements.countMatching(org, request) };
      const { id } = await acknowledgements.request(org, request, administrator);
      return untilEnded(
        () => acknowledgements.get(org, id),
        ({ acknowledged, matching }) => `${acknowledged} of ${matching} acknowledged`,
      );
    },
    isWrong: ({ status }: Partial<Acknowledgement>) => status === "failed",
  },
  "finding reopen": {
    about:
      "Reopens acknowledged findings: those with given ids, those that match all given filters, or --all.",
    flags,
    isAct,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const request = readRequest(flags);
      if (flags["dry-run"] !== undefined)
        return { matching: await acknowledgements.countMatching(org, request, "reopen") };
      const { id } = await acknowledgements.request(org, request, administrator);
      return untilEnded(
        () => acknowledgements.getReopening(org, id),
        ({ reopened, matching }) => `${reopened} of ${matching} reopened`,
      );
    },
    isWrong: ({ status }: Partial<Reopening>) => status === "failed",
  },
};

/** The findings that the flags choose, and the reason. Everything is meant only when --all says so. */
const readRequest = (flags: Flags): Pick<AcknowledgementRequest, "ids" | "filter" | "reason"> => {
  const filter: FindingFilter = {
    ...(flags.acknowledged !== undefined && {
      acknowledged: parse("acknowledged", state, flags.acknowledged) === "true",
    }),
    ...(flags.breach !== undefined && { breachId: parseId("breach", flags) }),
    ...(flags.domain !== undefined && { domainId: parseId("domain", flags) }),
    ...(flags.email !== undefined && { emailId: parseId("email", flags) }),
    ...(flags.severity !== undefined && {
      severity: parse("severity", z.array(severity), flags.severity.split(",")),
    }),
    ...(flags.scan !== undefined && { scanId: parseId("scan", flags) }),
    ...(flags.before !== undefined && { detectedBefore: parseTime("before", flags.before) }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  if ([flags.ids !== undefined, flags.all !== undefined, isFiltered].filter(Boolean).length !== 1) {
    throw new CommandError("Give --ids, or --all, or filters such as --scan, and only one of these three.");
  }
  const why = flags.reason === undefined ? {} : { reason: parse("reason", acknowledgeReason, flags.reason) };
  const { ids } = acknowledgementRequest.shape;
  return flags.ids === undefined
    ? { filter, ...why }
    : { ids: parse("ids", ids, flags.ids.split(",").map(Number)), ...why };
};

const lookAgainMilliseconds = 500;

/** Waits until a request has ended, and shows how far it is if standard error is a terminal. */
const untilEnded = async <State extends { status: string }>(
  look: () => Promise<State>,
  inWords: (state: State) => string,
): Promise<State> => {
  for (;;) {
    const state = await look();
    showProgress(inWords(state));
    if (state.status !== "running") return state;
    await setTimeout(lookAgainMilliseconds);
  }
};
