/**
 * Runs a function of a Google Apps Script with stand-ins of Google's services. They answer at once there, so
 * each call waits for the answer of the thread that began this one.
 */
import { createHash } from "node:crypto";
import { createContext, runInContext } from "node:vm";
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";

type Work = { code: string; name: string; port: MessagePort; signal: Int32Array; now: number };

const { code, name, port, signal, now } = workerData as Work;
const began = Date.now();
/** How much later it is for the script than for us: it need not sleep. */
let skew = now - began;

// biome-ignore lint/suspicious/noExplicitAny: whatever the service gives
const ask = (service: string, ...args: unknown[]): any => {
  port.postMessage({ service, args });
  Atomics.wait(signal, 0, 0);
  Atomics.store(signal, 0, 0);
  const { result, error, took = 0 } = receiveMessageOnPort(port)?.message ?? {};
  skew += took;
  if (error !== undefined) throw new Error(error);
  return result;
};

const triggerOf = (handler: string) => ({ getHandlerFunction: () => handler });
const newTrigger = (handler: string) => ({
  timeBased: () => ({
    everyHours: (hours: number) => ({ create: () => ask("createTrigger", handler, hours * 3_600_000) }),
    after: (milliseconds: number) => ({ create: () => ask("createTrigger", handler, milliseconds) }),
  }),
});

class ScriptDate extends Date {
  static override now = (): number => Date.now() + skew;
}

const context = createContext({
  console: { log: (text: string) => ask("log", text), warn: (text: string) => ask("log", text) },
  Date: ScriptDate,
  AdminDirectory: { Users: { list: (options: object) => ask("list", JSON.parse(JSON.stringify(options))) } },
  AdminReports: {
    Activities: {
      list: (user: string, application: string, options: object) =>
        ask("listActivities", user, application, JSON.parse(JSON.stringify(options))),
    },
  },
  PropertiesService: {
    getScriptProperties: () => ({
      getProperty: (key: string) => ask("getProperty", key),
      setProperty: (key: string, value: string) => ask("setProperty", key, value),
      deleteProperty: (key: string) => ask("deleteProperty", key),
    }),
  },
  ScriptApp: {
    getProjectTriggers: () => ask("listTriggers").map(triggerOf),
    deleteTrigger: (trigger: ReturnType<typeof triggerOf>) =>
      ask("deleteTrigger", trigger.getHandlerFunction()),
    newTrigger,
  },
  LockService: { getScriptLock: () => ({ tryLock: () => ask("lock"), releaseLock: () => ask("unlock") }) },
  Utilities: {
    DigestAlgorithm: { SHA_256: "sha256" },
    Charset: { UTF_8: "utf8" },
    computeDigest: (algorithm: string, text: string) => [...createHash(algorithm).update(text).digest()],
    base64Encode: (bytes: number[]) => Buffer.from(bytes).toString("base64"),
    sleep: (milliseconds: number) => {
      skew += milliseconds;
    },
  },
  UrlFetchApp: {
    fetchAll: (requests: object[]) =>
      ask("fetchAll", JSON.parse(JSON.stringify(requests))).map(
        ({ status, headers, text }: { status: number; headers: object; text: string }) => ({
          getResponseCode: () => status,
          getHeaders: () => headers,
          getContentText: () => text,
        }),
      ),
  },
});

try {
  runInContext(`${code}\n${name}();`, context, { filename: "Code.gs" });
  port.postMessage({ service: "end", args: [Date.now() + skew] });
} catch (error) {
  port.postMessage({ service: "end", args: [Date.now() + skew, String((error as Error).message)] });
}
