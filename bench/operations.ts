import type { Call, Reply } from "./api.ts";
import type { Cell } from "./arm.ts";
import { type Counted, count, countedCells, countedColumns, type Measuring } from "./measure.ts";
import { scanEnds } from "./scan-ends.ts";
import type { Bench } from "./service.ts";

/** Addresses of an imported file. */
const rowCount = 500;

/** Every operation that is not a list, in an order in which each finds what it needs. */
export const operationsOf = async (bench: Bench): Promise<Measuring[]> => {
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=50" });
  const unacknowledged = (body.breaches as { id: number }[]).map(({ id }) => id);
  const addedEmails: number[] = [];
  const channels: number[] = [];
  const previews: Reply[] = [];
  const acknowledge = (index: number): Call => ({
    method: "POST",
    path: "/breaches/acknowledge",
    body: { id: unacknowledged[index], resolution: "handled", reason: "Password changed" },
  });
  const change =
    (isActive: boolean) =>
    (index: number): Call => ({ method: "PATCH", path: `/emails/${addedEmails[index]}`, body: { isActive } });
  const few = { status: 200, timedCalls: 9 };
  return [
    {
      name: "Authorizer alone (unknown path)",
      function: "refuse-route",
      call: () => ({ method: "GET", path: "/nothing" }),
      status: 404,
      timedCalls: 30,
    },
    { ...few, name: "POST /breaches/acknowledge", function: "acknowledge-breach", call: acknowledge },
    { ...few, name: "POST /breaches/acknowledge, again", function: "acknowledge-breach", call: acknowledge },
    {
      name: "POST /emails",
      function: "add-email",
      call: (index) => ({
        method: "POST",
        path: "/emails",
        body: { email: `new.${index}@one.seeded.example`, domainId: 1, teamId: 1, ownerName: "New" },
      }),
      status: 201,
      replied: ({ body }) => addedEmails.push(Number(body.id)),
      timedCalls: 9,
    },
    { ...few, name: "PATCH /emails/{id}, disable", function: "change-email", call: change(false) },
    { ...few, name: "PATCH /emails/{id}, enable", function: "change-email", call: change(true) },
    { ...few, name: "PATCH /emails/{id}, no change", function: "change-email", call: change(true) },
    {
      ...few,
      name: "PATCH /emails/{id} of the dashboard, another owner's name",
      function: "assign-email",
      call: (index) => ({
        method: "PATCH",
        path: `/emails/${addedEmails[index]}`,
        asUser: true,
        body: { ownerName: "Other" },
      }),
    },
    {
      ...few,
      name: "DELETE /emails without findings",
      function: "remove-email",
      call: (index) => ({ method: "DELETE", path: `/emails?id=${addedEmails[index]}` }),
    },
    {
      ...few,
      name: "DELETE /emails with its findings",
      function: "remove-email",
      call: (index) => ({ method: "DELETE", path: `/emails?id=${101 + index}` }),
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
      replied: ({ body }) => channels.push(Number(body.id)),
      timedCalls: 9,
    },
    {
      ...few,
      name: "GET /alert-configs",
      function: "list-alert-configs",
      call: () => ({ method: "GET", path: "/alert-configs" }),
    },
    {
      ...few,
      name: "PATCH /alert-configs/{id}",
      function: "change-alert-config",
      call: (index) => ({
        method: "PATCH",
        path: `/alert-configs/${channels[index]}`,
        body: { isEnabled: false },
      }),
    },
    {
      ...few,
      name: "DELETE /alert-configs/{id}",
      function: "delete-alert-config",
      call: (index) => ({ method: "DELETE", path: `/alert-configs/${channels[index]}` }),
    },
    {
      name: "POST /scans (without the scan)",
      function: "start-scan",
      call: () => ({ method: "POST", path: "/scans" }),
      status: 201,
      // An organization may start ten scans an hour.
      timedCalls: 9,
      after: (bench, { body }) => scanEnds(bench, Number(body.scanJobId)),
    },
    {
      name: `POST /emails/import/preview, ${rowCount} addresses`,
      function: "preview-import",
      call: previewing,
      status: 200,
      replied: (reply) => previews.push(reply),
      timedCalls: 1,
    },
    {
      name: `POST /emails/import/commit, ${rowCount} addresses`,
      function: "commit-import",
      call: (index) => ({ method: "POST", path: "/emails/import/commit", body: previews[index]?.body }),
      status: 200,
      timedCalls: 1,
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

/** The CSV file of this number: addresses of its own, half of them of each of two domains. */
const fileOf = (number: number): string =>
  [
    "Name,E-mail",
    ...Array.from(
      { length: rowCount },
      (_, index) =>
        `Person ${index},import.${number}.${index}@${index % 2 === 0 ? "one" : "two"}.seeded.example`,
    ),
  ].join("\n");

const boundary = "----boundary7d91f2";

/** The call that uploads the file of this number, in a form with one field, `file`. */
const previewing = (number: number): Call => ({
  method: "POST",
  path: "/emails/import/preview",
  raw: Buffer.from(
    [
      `--${boundary}`,
      'Content-Disposition: form-data; name="file"; filename="people.csv"',
      "Content-Type: text/csv",
      "",
      fileOf(number),
      `--${boundary}--`,
      "",
    ].join("\r\n"),
  ),
  headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
});
