/**
 * The entry point of an instance's process, which loads the function's module once and then runs one
 * invocation at a time. instance.ts starts it; protocol.ts says what the two exchange. It is JavaScript
 * because stripping types would cost each instance 13 MB and 80 ms.
 */
import { existsSync } from "node:fs";
import { createRequire, flushCompileCache } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** @import { FunctionError, InstanceData, InstanceMessage, Invocation } from "./protocol.ts" */
/** @typedef {(event: unknown, context: object) => unknown} Handler */

class RuntimeError extends Error {
  /** @param {string} type @param {string} message */
  constructor(type, message) {
    super(message);
    this.name = `Runtime.${type}`;
  }
}

/** @param {InstanceData} data @returns {Promise<Handler>} */
async function loadHandler({ directory, handler }) {
  const dot = handler.lastIndexOf(".");
  const [module, name] = [handler.slice(0, dot), handler.slice(dot + 1)];
  const path = [".mjs", ".js", ".cjs"]
    .map((extension) => join(directory, module + extension))
    .find((candidate) => existsSync(candidate));
  if (path === undefined) throw new RuntimeError("ImportModuleError", `Cannot find module '${module}'`);
  /** @type {Record<string, unknown>} */
  const exports = path.endsWith(".mjs") ? await import(pathToFileURL(path).href) : createRequire(path)(path);
  const found = exports[name];
  if (typeof found !== "function") {
    throw new RuntimeError("HandlerNotFound", `${handler} is undefined or not exported`);
  }
  return /** @type {Handler} */ (found);
}

/** @param {InstanceData} data @param {Invocation} invocation */
function contextOf(data, { requestId, deadline }) {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: data.functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: data.functionArn,
    memoryLimitInMB: String(data.memoryMegabytes),
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

/** @param {unknown} error @returns {FunctionError} */
function describeError(error) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error) };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? "").split("\n") };
}

/**
 * @param {Handler} handler @param {InstanceData} data @param {Invocation} invocation
 * @returns {Promise<InstanceMessage>}
 */
async function run(handler, data, invocation) {
  try {
    const result = await handler(JSON.parse(invocation.event), contextOf(data, invocation));
    return { kind: "answer", payload: JSON.stringify(result) ?? "null" };
  } catch (error) {
    return { kind: "failure", error: describeError(error) };
  }
}

/** @type {InstanceData} */
const data = JSON.parse(process.argv[2] ?? "");
/** @param {InstanceMessage} message */
const say = (message, done = () => {}) => process.send?.(message, done);
// The runtime has died without ending this instance.
process.on("disconnect", () => process.exit());
// Ctrl-C reaches every process of the terminal, but only the runtime ends instances.
process.on("SIGINT", () => {});
// Gets unhandled rejections too. 129 is the exit status of Lambda's own runtime.
process.on("uncaughtException", (error) => {
  console.error(error);
  say({ kind: "crash", error: describeError(error) }, () => process.exit(129));
});
try {
  const handler = await loadHandler(data);
  process.on("message", async (invocation) =>
    say(await run(handler, data, /** @type {Invocation} */ (invocation))),
  );
  say({ kind: "ready" });
  // Writes the cache of NODE_COMPILE_CACHE now: most instances are killed before Node.js would do so.
  flushCompileCache();
} catch (error) {
  say({ kind: "not ready", error: describeError(error) });
}
