import type { Call } from "./api.ts";
import type { Cell } from "./arm.ts";
import { type Counted, count, countedCells, countedColumns, type Measuring } from "./measure.ts";
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
export const operationsOf = async (bench: Bench): Promise<Measuring[]> => {
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=1" });
  const [unacknowledged] = body.breaches as { id: number }[];
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
  ];
};

export const operationColumns = ["Operation", ...countedColumns];

export const operationCells = ({ name }: Measuring, counted: Counted): Cell[] => [
  name,
  ...countedCells(counted),
];

/** Counts every operation once, before any is timed: what an operation costs depends on what was done before. */
export const countOperations = async (bench: Bench, operations: Measuring[]): Promise<Counted[]> => {
  const counted: Counted[] = [];
  for (const operation of operations) counted.push(await count(bench, operation));
  return counted;
};

/** A CSV file, half of its addresses of each of two domains. */
const file = [
  "Name,E-mail",
  ...Array.from(
    { length: rowCount },
    (_, index) => `Person ${index},import.${index}@${index % 2 === 0 ? "one" : "two"}.seeded.example`,
  ),
].join("\n");

const boundary = "----boundary7d91f2";

/** The call that uploads the file, in a form with one field, `file`. */
const previewing = (): Call => ({
  method: "POST",
  path: "/emails/import/preview",
  raw: Buffer.from(
    [
      `--${boundary}`,
      'Content-Disposition: form-data; name="file"; filename="people.csv"',
      "Content-Type: text/csv",
      "",
      file,
      `--${boundary}--`,
      "",
    ].join("\r\n"),
  ),
  headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
});
