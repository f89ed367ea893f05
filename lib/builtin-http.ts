import type http from "node:http";

/**
 * Takes the place of `node:http` in the bundles, where the SDK imports it for plain connections and alerts for all. An ES module of it reads
 * every property of it, one of which loads all of fetch: 30 ms. What else is imported from here does not build; pure, so that
 * what is imported and not used loads nothing.
 */
const builtin = (): typeof http => process.getBuiltinModule("node:http");

export const Agent = /* @__PURE__ */ (() => builtin().Agent)();
export const request = /* @__PURE__ */ (() => builtin().request)();
export const STATUS_CODES = /* @__PURE__ */ (() => builtin().STATUS_CODES)();
