import type { Call } from "./api.ts";
import type { Cell } from "./arm.ts";
import { type Counted, count, countedCells, countedColumns, type Measuring } from "./measure.ts";
import { scanEnds } from "./scan-ends.ts";
import type { Bench } from "./service.ts";

/** Addresses of an imported file. */
const rowCount = 500;

/** Every operation that is not a list, in an order in which each finds what it needs. */
export const operationsOf = async (bench: Bench): Promise<Measuring[]> => {
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=1" });
  const [unacknowledged] = body.breaches as { id: number }[];
  let addedEmail: unknown;
  let channel: unknown;
  let preview: unknown;
  const acknowledge = (): Call => ({
    method: "POST",
    path: "/breaches/acknowledge",
    body: { id: unacknowledged?.id, resolution: "handled", reason: "Password changed" },
  });
  const change = (isActive: boolean) => (): Call => ({
    method: "PATCH",
    path: `/emails/${addedEmail}`,
    body: { isActive },
  });
  return [
    {
      name: "Authorizer alone (unknown path)",
      function: "refuse-route",
      call: () => ({ method: "GET", path: "/nothing" }),
      status: 404,
    },
    { status: 200, name: "POST /breaches/acknowledge", function: "acknowledge-breach", call: acknowledge },
    {
      status: 200,
      name: "POST /breaches/acknowledge, again",
      function: "acknowledge-breach",
      call: acknowledge,
    },
    {
      name: "POST /emails",
      function: "add-email",
      call: () => ({
        method: "POST",
        path: "/emails",
        body: { email: "new@one.seeded.example", domainId: 1, teamId: 1, ownerName: "New" },
      }),
      status: 201,
      replied: ({ body }) => {
        addedEmail = body.id;
      },
    },
    { status: 200, name: "PATCH /emails/{id}, disable", function: "change-email", call: change(false) },
    { status: 200, name: "PATCH /emails/{id}, enable", function: "change-email", call: change(true) },
    { status: 200, name: "PATCH /emails/{id}, no change", function: "change-email", call: change(true) },
    {
      status: 200,
      name: "PATCH /emails/{id} of the dashboard, another owner's name",
      function: "assign-email",
      call: () => ({
        method: "PATCH",
        path: `/emails/${addedEmail}`,
        asUser: true,
        body: { ownerName: "Other" },
      }),
    },
    {
      status: 200,
      name: "DELETE /emails without findings",
      function: "remove-email",
      call: () => ({ method: "DELETE", path: `/emails?id=${addedEmail}` }),
    },
    {
      status: 200,
      name: "DELETE /emails with its findings",
      function: "remove-email",
      call: () => ({ method: "DELETE", path: "/emails?id=101" }),
    },
    {
      name: "POST /alert-configs",
      function: "create-alert-config",
      call: () => ({
        method: "POST",
        path: "/alert-configs",
        body: { channel: "email", config: { recipients: ["alerts@one.seeded.example"] } },
      }),
      status: 201,
      replied: ({ body }) => {
        channel = body.id;
      },
    },
    {
      status: 200,
      name: "GET /alert-configs",
      function: "list-alert-configs",
      call: () => ({ method: "GET", path: "/alert-configs" }),
    },
    {
      status: 200,
      name: "PATCH /alert-configs/{id}",
      function: "change-alert-config",
      call: () => ({
        method: "PATCH",
        path: `/alert-configs/${channel}`,
        body: { isEnabled: false },
      }),
    },
    {
      status: 200,
      name: "DELETE /alert-configs/{id}",
      function: "delete-alert-config",
      call: () => ({ method: "DELETE", path: `/alert-configs/${channel}` }),
    },
    {
      name: "POST /scans (without the scan)",
      function: "start-scan",
      call: () => ({ method: "POST", path: "/scans" }),
      status: 201,
      after: (bench, { body }) => scanEnds(bench, Number(body.scanJobId)),
    },
    {
      name: `POST /emails/import/preview, ${rowCount} addresses`,
      function: "preview-import",
      call: previewing,
      status: 200,
      replied: ({ body }) => {
        preview = body;
      },
    },
    {
      name: `POST /emails/import/commit, ${rowCount} addresses`,
      function: "commit-import",
      call: () => ({ method: "POST", path: "/emails/import/commit", body: preview }),
      status: 200,
    },
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
