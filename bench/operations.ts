import { FormData } from "undici";
import type { Call } from "./api.ts";
import type { Cell } from "./arm.ts";
import { type Counted, count, countedCells, countedColumns, type Measuring, until } from "./measure.ts";
import { scanEnds } from "./scan-ends.ts";
import type { Bench } from "./service.ts";

/** Addresses of an imported file. */
const rowCount = 500;

const operation = (name: string, call: () => Call, rest: Partial<Measuring> = {}): Measuring => ({
  name,
  call,
  status: 200,
  ...rest,
});

/** Every operation that is not a list, in an order in which each finds what it needs. */
const operationsOf = async (bench: Bench): Promise<Measuring[]> => {
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=1" });
  const [unacknowledged] = body.breaches as { id: number }[];
  const feed: Call = { method: "GET", path: "/feed?limit=1000&format=ocsf" };
  // Later requests find the breaches in the memory of its instance.
  await bench.api.send(feed);
  let email: unknown;
  let channel: unknown;
  let preview: unknown;
  const post = (path: string, body?: unknown) => (): Call => ({ method: "POST", path, body });
  const changeEmail = (body: unknown, asUser?: true) => (): Call => ({
    method: "PATCH",
    path: `/emails/${email}`,
    body,
    ...(asUser && { asUser }),
  });
  const acknowledge = post("/breaches/acknowledge", {
    id: unacknowledged?.id,
    resolution: "handled",
    reason: "Password changed",
  });
  const added = { email: "new@one.seeded.example", domainId: 1, teamId: 1, ownerName: "New" };
  const created = { channel: "email", config: { recipients: ["alerts@one.seeded.example"] } };
  return [
    operation("Authorizer alone (unknown path)", () => ({ method: "GET", path: "/nothing" }), {
      status: 404,
    }),
    operation("GET /feed?limit=1000 in OCSF", () => feed),
    operation("POST /breaches/acknowledge", acknowledge),
    operation("POST /breaches/acknowledge, again", acknowledge),
    operation("POST /emails", post("/emails", added), {
      status: 201,
      replied: ({ body }) => {
        email = body.id;
      },
    }),
    operation("PATCH /emails/{id}, disable", changeEmail({ isActive: false })),
    operation("PATCH /emails/{id}, enable", changeEmail({ isActive: true })),
    operation("PATCH /emails/{id}, no change", changeEmail({ isActive: true })),
    operation(
      "PATCH /emails/{id} of the dashboard, another owner's name",
      changeEmail({ ownerName: "Other" }, true),
    ),
    operation("DELETE /emails without findings", () => ({ method: "DELETE", path: `/emails?id=${email}` })),
    operation("DELETE /emails with its findings", () => ({ method: "DELETE", path: "/emails?id=101" })),
    operation("POST /alert-configs", post("/alert-configs", created), {
      status: 201,
      replied: ({ body }) => {
        channel = body.id;
      },
    }),
    operation("GET /alert-configs", () => ({ method: "GET", path: "/alert-configs" })),
    operation("PATCH /alert-configs/{id}", () => ({
      method: "PATCH",
      path: `/alert-configs/${channel}`,
      body: { isEnabled: false },
    })),
    operation("DELETE /alert-configs/{id}", () => ({ method: "DELETE", path: `/alert-configs/${channel}` })),
    operation("POST /scans (without the scan)", post("/scans"), {
      status: 201,
      after: (bench, { body }) => scanEnds(bench, Number(body.scanJobId)),
    }),
    operation(`POST /emails/import/preview, ${rowCount} addresses`, previewing, {
      replied: ({ body }) => {
        preview = body;
      },
    }),
    operation(`POST /emails/import/commit, ${rowCount} addresses`, () => ({
      method: "POST",
      path: "/emails/import/commit",
      body: preview,
    })),
    ...(await ofDirectory(bench)),
    ofNobody("GET", "/recipients/{token}", 404),
    ofNobody("POST", "/sign-in/passkeys/options", 200),
    ofNobody("POST", "/sign-in/links", 202, { email: "nobody@one.seeded.example" }),
  ];
};

/**
 * Requests of a directory. What follows from them is done by a worker, and not counted. The next request waits for
 * it, since a task that is still there makes another one dearer.
 */
const ofDirectory = async ({ api }: Bench): Promise<Measuring[]> => {
  const connected = await api.send({
    method: "POST",
    path: "/directories",
    body: { name: "Directory" },
    asUser: true,
  });
  const token = String(connected.body.token);
  let user: unknown;
  const userName = "joiner@one.seeded.example";
  const send = (method: Call["method"], path: string, body?: unknown): Call => ({
    method,
    path,
    body,
    token,
  });
  const { body: group } = await api.send(send("POST", "/Groups", { displayName: "All" }));
  const isFollowed = (isActive: boolean) => (): Promise<void> =>
    until(
      async () => {
        const { body } = await api.send({ method: "GET", path: `/emails?q=${userName}`, asUser: true });
        const [email] = body.emails as { isActive: boolean }[];
        return email?.isActive === isActive;
      },
      { minutes: 3, what: "the worker that follows a directory" },
    );
  const ofScim = (name: string, call: () => Call, rest?: Partial<Measuring>): Measuring =>
    operation(name, call, {
      // The first request of half a minute reads the organization, and the first of a minute notes the use.
      before: () => api.send(send("GET", "/ServiceProviderConfig")),
      ...rest,
    });
  return [
    ofScim("POST /Users of SCIM", () => send("POST", "/Users", { userName, displayName: "Ada" }), {
      status: 201,
      replied: ({ body }) => {
        user = body.id;
      },
      after: isFollowed(true),
    }),
    ofScim("GET /Users of SCIM, by userName", () =>
      send("GET", `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`),
    ),
    ofScim(
      "PATCH /Users/{id} of SCIM, a leaver",
      () =>
        send("PATCH", `/Users/${user}`, { Operations: [{ op: "replace", path: "active", value: false }] }),
      { after: isFollowed(false) },
    ),
    ofScim(
      "PATCH /Groups/{id} of SCIM, one member",
      () =>
        send("PATCH", `/Groups/${group.id}`, {
          Operations: [{ op: "add", path: "members", value: [{ value: user }] }],
        }),
      { status: 204 },
    ),
    ofScim("DELETE /Users/{id} of SCIM", () => send("DELETE", `/Users/${user}`), { status: 204 }),
  ];
};

/** An endpoint of the dashboard that anyone may call. */
const ofNobody = (method: "GET" | "POST", path: string, status: number, body?: unknown): Measuring => {
  const token = `1.${"a".repeat(22)}.${"a".repeat(22)}`;
  const call: Call = { method, path: path.replace("{token}", token), body, asNobody: true };
  return operation(`${method} ${path} of the dashboard, without a credential`, () => call, { status });
};

export const operationColumns = ["Operation", ...countedColumns];

export const operationCells = ({ name, counted }: CountedOperation): Cell[] => [
  name,
  ...countedCells(counted),
];

export type CountedOperation = { name: string; counted: Counted };

/** Counts every operation once. */
export const countOperations = async (bench: Bench): Promise<CountedOperation[]> => {
  const operations: CountedOperation[] = [];
  for (const operation of await operationsOf(bench))
    operations.push({ name: operation.name, counted: await count(bench, operation) });
  return operations;
};

/** A CSV file, half of its addresses of each of two domains. */
const file = [
  "Name,E-mail",
  ...Array.from(
    { length: rowCount },
    (_, index) => `Person ${index},import.${index}@${index % 2 === 0 ? "one" : "two"}.seeded.example`,
  ),
].join("\n");

const previewing = (): Call => {
  const form = new FormData();
  form.set("file", new File([file], "people.csv", { type: "text/csv" }));
  return { method: "POST", path: "/emails/import/preview", form };
};
