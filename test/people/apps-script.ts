/** Google's side of the Apps Script of docs/directory: a Workspace with its people, and the script's home. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { request as sendRequest } from "undici";

const code = readFileSync(
  join(import.meta.dirname, "../../docs/directory/google-apps-script/Code.gs"),
  "utf8",
);

/** A user as the Directory API has it. */
export type WorkspaceUser = Record<string, unknown> & { id: string; primaryEmail: string };

type Request = { url: string; method: string; contentType: string; payload?: string } & Record<
  string,
  unknown
>;
type Reply = { status: number; headers: Record<string, unknown>; text: string };

const options = "url method headers contentType payload followRedirects muteHttpExceptions".split(" ");

/** Only the fields that `nextPageToken,users(…)` names, as partial responses of Google have them. */
const masked = (user: WorkspaceUser, fields: string): object => {
  const [, names = ""] = /users\((.*)\)/.exec(fields) ?? [];
  return Object.fromEntries(Object.entries(user).filter(([name]) => names.split(",").includes(name)));
};

/**
 * A Workspace where the script is installed. `users` and `deleted` are changed by tests, as is what happens
 * on the way: `fault` gives a reply in place of the service's, or throws where there is none.
 */
export const createWorkspace = (properties: Record<string, string>) => {
  const workspace = {
    users: [] as WorkspaceUser[],
    deleted: [] as WorkspaceUser[],
    /** Changes of passwords, by the ids of users. */
    passwordChanges: [] as { id: string; at: string }[],
    properties: new Map(Object.entries(properties)),
    triggers: new Map<string, number>(),
    requests: [] as Request[],
    log: [] as string[],
    pageSize: 500,
    /** How long the script waits for each round of requests. */
    took: 0,
    isLocked: false,
    fault: (_request: Request): Reply | undefined => undefined,
    failList: (_pageToken: string | undefined): void => {},
  };

  const send = async (request: Request): Promise<Reply> => {
    const unknown = Object.keys(request).filter((name) => !options.includes(name));
    if (unknown.length > 0) throw new Error(`Attribute provided with no value: ${unknown}`);
    workspace.requests.push(request);
    const injected = workspace.fault(request);
    if (injected !== undefined) return injected;
    const reply = await sendRequest(request.url, {
      method: request.method.toUpperCase() as "GET",
      headers: { ...(request.headers as object), "content-type": request.contentType },
      ...(request.payload !== undefined && { body: request.payload }),
    });
    return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
  };

  type List = {
    customer?: string;
    maxResults: number;
    showDeleted: string;
    fields: string;
    pageToken?: string;
  };
  type Report = { eventName: string; startTime?: string; pageToken?: string };
  const services: Record<string, (...args: never[]) => unknown> = {
    log: (text: string) => workspace.log.push(text),
    list: ({ customer, maxResults, showDeleted, fields, pageToken }: List) => {
      if (customer !== "my_customer" || maxResults > 500) throw new Error("Bad Request");
      workspace.failList(pageToken);
      const all = showDeleted === "true" ? workspace.deleted : workspace.users;
      const from = pageToken === undefined ? 0 : Number(pageToken.replace("page-", ""));
      const to = from + workspace.pageSize;
      return {
        ...(all.length > 0 && { users: all.slice(from, to).map((user) => masked(user, fields)) }),
        ...(to < all.length && { nextPageToken: `page-${to}` }),
      };
    },
    listActivities: (user: string, application: string, { eventName, startTime, pageToken }: Report) => {
      if (user !== "all" || application !== "user_accounts" || eventName !== "password_edit")
        throw new Error("Bad Request");
      // The newest come first.
      const all = workspace.passwordChanges
        .filter(({ at }) => startTime === undefined || Date.parse(at) >= Date.parse(startTime))
        .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
      const from = Number(pageToken ?? 0);
      const to = from + workspace.pageSize;
      const items = all.slice(from, to).map(({ id, at }) => ({
        kind: "admin#reports#activity",
        id: { time: at, applicationName: "user_accounts" },
        actor: { email: "somebody@demo.example", profileId: id },
        events: [{ type: "password_change", name: "password_edit" }],
      }));
      return { ...(items.length > 0 && { items }), ...(to < all.length && { nextPageToken: String(to) }) };
    },
    getProperty: (key: string) => workspace.properties.get(key) ?? null,
    setProperty: (key: string, value: string) => {
      if (value.length > 9 * 1024) throw new Error("Argument too large: value");
      workspace.properties.set(key, value);
    },
    deleteProperty: (key: string) => workspace.properties.delete(key),
    listTriggers: () => [...workspace.triggers.keys()],
    createTrigger: (handler: string, milliseconds: number) => workspace.triggers.set(handler, milliseconds),
    deleteTrigger: (handler: string) => workspace.triggers.delete(handler),
    lock: () => {
      const isFree = !workspace.isLocked;
      workspace.isLocked = true;
      return isFree;
    },
    unlock: () => {
      workspace.isLocked = false;
    },
    fetchAll: (requests: Request[]) => Promise.all(requests.map(send)),
  };

  /** Runs a function of the script to its end, and gives its error and how many minutes it took there. */
  const run = (name = "synchronize"): Promise<{ error: string | undefined; minutes: number }> =>
    new Promise((resolve, reject) => {
      workspace.requests.length = 0;
      const { port1, port2 } = new MessageChannel();
      const signal = new Int32Array(new SharedArrayBuffer(4));
      const now = Date.now();
      const worker = new Worker(join(import.meta.dirname, "apps-script-worker.ts"), {
        workerData: { code, name, port: port2, signal, now },
        transferList: [port2],
      });
      worker.once("error", reject);
      port1.on("message", async ({ service, args }: { service: string; args: never[] }) => {
        if (service === "end") {
          const [ended, error] = args as unknown as [number, string | undefined];
          port1.close();
          return resolve({ error, minutes: (ended - now) / 60_000 });
        }
        const answer = await Promise.resolve()
          .then(() => services[service]?.(...args))
          .then((result) => ({ result: typeof result === "object" ? result : (result as never) }))
          .catch((error: Error) => ({ error: error.message }));
        port1.postMessage({ ...answer, ...(service === "fetchAll" && { took: workspace.took }) });
        Atomics.store(signal, 0, 1);
        Atomics.notify(signal, 0);
      });
    });

  return Object.assign(workspace, { run });
};
