import { setTimeout } from "node:timers/promises";
import * as z from "zod/mini";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as acknowledgements from "../../../shared/findings/acknowledgements/acknowledgement.ts";
import {
  type AcknowledgementRequest,
  acknowledgementRequest,
  type FindingFilter,
} from "../../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { acknowledgeReason, resolution } from "../../../shared/findings/finding-schema.ts";
import { severity } from "../../../shared/hibp/severity-schema.ts";
import { askUnlessYes } from "../ask.ts";
import type { Command, Commands, Flags } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, oneOf, parse, parseId, parseNumber, parseTime } from "../flags.ts";
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

/** More findings than these are acknowledged only once somebody has agreed to their number. */
const mostUnasked = 100;

/** A command about many findings. A dry run only counts. */
const ofMany = (purpose: "acknowledge" | "reopen", about: string): Command => ({
  about: `${about} with given ids, those that match all given filters, or --all.`,
  flags: {
    ...flags,
    ...(purpose === "acknowledge" && {
      resolution: `optional ${oneOf(resolution)}`,
      reason: "required TEXT",
      yes: "switch",
    }),
  },
  isAct: (given) => given["dry-run"] === undefined,
  run: async (given) => {
    const { id: org } = await findOrganization(given);
    const request = {
      ...readRequest(given),
      ...(purpose === "acknowledge" && {
        resolution: parse("resolution", resolution, given.resolution ?? "handled"),
      }),
    };
    if (given["dry-run"] !== undefined)
      return { matching: await acknowledgements.countMatching(org, request, purpose) };
    if (purpose === "acknowledge") await agree(org, request, given);
    const { id } = await acknowledgements.request(org, request, administrator);
    return purpose === "acknowledge"
      ? untilEnded(() => acknowledgements.get(org, id), "acknowledged")
      : untilEnded(() => acknowledgements.getReopening(org, id), "reopened");
  },
  isWrong: ({ status }: { status?: string }) => status === "failed",
});

const agree = async (
  org: number,
  request: Pick<AcknowledgementRequest, "ids" | "filter" | "reason">,
  given: Flags,
): Promise<void> => {
  if ((request.reason ?? "").trim() === "") throw new CommandError("--reason: must say why.");
  const matching = await acknowledgements.countMatching(org, request, "acknowledge");
  if (matching > mostUnasked)
    await askUnlessYes(`acknowledges ${matching} findings`, given.yes !== undefined);
};

export const findingCommands: Commands = {
  "finding acknowledge": ofMany(
    "acknowledge",
    `Acknowledges findings, and asks above ${mostUnasked} unless --yes is given: those`,
  ),
  "finding reopen": ofMany("reopen", "Reopens acknowledged findings: those"),
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
    : {
        ids: parse(
          "ids",
          ids,
          flags.ids.split(",").map((id) => parseNumber("ids", id, 1)),
        ),
        ...why,
      };
};

const lookAgainMilliseconds = 500;

/** Waits until a request has ended, and shows how far it is if standard error is a terminal. */
const untilEnded = async <Done extends string, State extends Record<Done, number>>(
  look: () => Promise<State & { status: string; matching: number }>,
  done: Done,
) => {
  for (;;) {
    const state = await look();
    showProgress(`${state[done]} of ${state.matching} ${done}`);
    if (state.status !== "running") return state;
    await setTimeout(lookAgainMilliseconds);
  }
};
