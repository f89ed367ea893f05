/** A request of SCIM that was let in, and the answer to it. */
import type { Directory } from "../directory.ts";
import type { Comparison } from "./filter.ts";

export type Caller = {
  org: number;
  directory: Directory;
  /** The url of SCIM's root, for the locations of resources. */
  url: string;
};

export type Query = {
  /** Of all of these. */
  filter: readonly Comparison[];
  /** From 1. */
  startIndex: number;
  /** At most `mostResults`. */
  count: number;
};

export type Answer = { status: 200 | 201 | 204; body?: unknown; location?: string };

/** What `/ServiceProviderConfig` says, too. */
export const mostResults = 200;
