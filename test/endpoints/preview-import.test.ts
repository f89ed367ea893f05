import type { APIGatewayProxyEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { previewImport } from "../../functions/preview-import/endpoint.ts";
import { countOrganization } from "../../shared/access/api/limits.ts";
import { readUpload } from "../../shared/access/api/multipart.ts";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { inOneWindow, presetCount, subjects } from "./limit-window.ts";
import { countStatuses, expectRefusal } from "./reply.ts";
import { boundary, multipart, postForm, preview } from "./upload.ts";

const mebibyte = 1024 * 1024;

/** A CSV file of exactly this size. */
const csvOfSize = (bytes: number): string => {
  const start = "email\nada@demo.example\n";
  return start + "\n".repeat(bytes - start.length);
};

const previewWith = (api: Client, query: string, content: string) =>
  api.request("POST", `/emails/import/preview?${query}`, {
    raw: multipart([{ name: "file", filename: "people.csv", content }]),
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  });

describe("200", () => {
  test("include=columns adds the columns, which are not part of the plan", async () => {
    const { api } = await createOrganization();
    const file = "email,name,phone\nada@demo.example,Ada,1\n,Bob,2";
    const reply = await previewWith(api, "include=columns", file);
    const { columns, ...plan } = reply.body;
    expect(columns).toEqual({
      used: ["email", "name"],
      ignored: ["phone"],
      withoutAddress: ["Bob"],
      departed: [],
    });
    expect((await preview(api, file)).body).toEqual(plan);
    expect(await api.post("/emails/import/commit", reply.body)).toMatchObject({ status: 200 });
  });

  test("leaveOut=departed leaves out who has left; the rest can be committed", async () => {
    const { api } = await createOrganization();
    const file = "email,status\nada@demo.example,Active\nbob@demo.example,Suspended";
    const departed = [{ email: "bob@demo.example", heading: "status", value: "Suspended" }];
    const all = await previewWith(api, "include=columns", file);
    expect(all.body).toMatchObject({ quote: { newActiveCount: 2 }, columns: { departed } });
    const { columns, ...plan } = (await previewWith(api, "include=columns&leaveOut=departed", file)).body;
    expect(columns).toMatchObject({ departed });
    expect(plan).toMatchObject({ emails: [{ email: "ada@demo.example" }], quote: { newActiveCount: 1 } });
    expect(await api.post("/emails/import/commit", plan)).toMatchObject({ body: { importedCount: 1 } });
  });

  test("gives a row for each address in file order, and a quote; imports nothing", async () => {
    const {
      id: org,
      api,
      domainId,
    } = await createOrganization({
      "seat-price-cents": "250",
      interval: "year",
      "seat-allowance": "3",
    });
    await createOrganization({}, { domain: "foreign.example" });
    const { id: second } = await admin("domain add", { org, name: "münchen.example", verified: true });
    await admin("domain add", { org, name: "unverified.example" });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const disabled = await api.post("/emails", { email: "alan@demo.example", domainId });
    await api.patch(`/emails/${disabled.body.id}`, { isActive: false });
    const lines = [
      "Email;Name;Team",
      "ADA@demo.example;Ada;",
      "alan@demo.example;;",
      " Grace@Demo.example ;Grace Hopper;Sales",
      "grace@demo.example;Grace again;",
      "mary@MÜNCHEN.example;;",
      "mary@xn--mnchen-3ya.example;;",
      "bob@demo.example;;",
      "eve@ｄｅｍｏ.example;;",
      "jörg@demo.example;;",
      "x@unverified.example;;",
      "x@sub.demo.example;;",
      "x@foreign.example;X;",
      "not an address;Y;Sales",
    ];
    const reply = await preview(api, lines.join("\r\n"));
    const invalid = { domainId: null, status: "invalid" };
    const mary = { email: "mary@xn--mnchen-3ya.example", domainId: second };
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      emails: [
        { email: "ada@demo.example", domainId, status: "already_monitored", ownerName: "Ada" },
        { email: "alan@demo.example", domainId, status: "already_monitored" },
        {
          email: "grace@demo.example",
          domainId,
          status: "will_import",
          ownerName: "Grace Hopper",
          team: "Sales",
        },
        { email: "grace@demo.example", domainId, status: "duplicate", ownerName: "Grace again" },
        { ...mary, status: "will_import" },
        { ...mary, status: "duplicate" },
        { email: "bob@demo.example", domainId, status: "will_import" },
        { email: "eve@ｄｅｍｏ.example", ...invalid },
        { email: "jörg@demo.example", ...invalid },
        { email: "x@unverified.example", ...invalid },
        { email: "x@sub.demo.example", ...invalid },
        { email: "x@foreign.example", ...invalid, ownerName: "X" },
        { email: "not an address", ...invalid, ownerName: "Y", team: "Sales" },
      ],
      // One of four active e-mails is beyond the allowance, and one seat is paid for already.
      quote: {
        interval: "year",
        isEstimate: true,
        newSeatsCount: 3,
        newActiveCount: 3,
        estimatedDeltaCents: 500,
      },
    });
    expect((await api.get("/emails")).body.total).toBe(2);
  });

  test("of files with each extension, in any case", async () => {
    const { api } = await createOrganization();
    for (const name of ["people.csv", "people.tsv", "PEOPLE.CSV", "C:\\\\people.v2.Txt", "Größe.csv"]) {
      expect([name, (await preview(api, "ada@demo.example", name)).status]).toEqual([name, 200]);
    }
  });

  test("bytes arrive as they are: UTF-16", async () => {
    const { api } = await createOrganization();
    const file = Buffer.from("\ufeffName\tE-Mail\r\nJürgen Müller\tada@demo.example\r\n", "utf16le");
    expect((await preview(api, file, "people.txt")).body.emails).toMatchObject([
      { email: "ada@demo.example", ownerName: "Jürgen Müller" },
    ]);
  });
});

describe("400", () => {
  test("a file that is empty, no text, or with a team's name too long, and no form", async () => {
    const { api } = await createOrganization();
    expectRefusal(await preview(api, ""), 400, /^file: is empty$/);
    expectRefusal(await preview(api, "ada@demo.example", "a.xlsx"), 400, unsupported);
    const long = `email,team\nada@demo.example,${"x".repeat(101)}`;
    expectRefusal(await preview(api, long), 400, /^file: the team "x+…" must have at most 100 characters$/);
    expectRefusal(await api.post("/emails/import/preview"), 400, /multipart\/form-data/);
  });

  // In this process.
  const read = (form: Buffer, type = `multipart/form-data; boundary=${boundary}`): Promise<Buffer> => {
    const event = { headers: { "Content-Type": type }, body: form.toString("base64"), isBase64Encoded: true };
    return readUpload(event as unknown as APIGatewayProxyEvent, previewImport.upload);
  };
  const unsupported = /^file: must be saved as CSV .* \.csv, \.tsv, or \.txt$/;
  const file = { name: "file", filename: "a.csv", content: "ada@demo.example" };
  const other = { ...file, name: "other" };
  const whole = multipart([file]);
  const malformed = `--${boundary}\r\n${"A".repeat(20_000)}: b\r\n\r\ndata\r\n--${boundary}--\r\n`;

  test.each<[what: string, error: RegExp, forms: Buffer[]]>([
    ["cut off", /well-formed/, [1, 60, whole.length - 8].map((left) => whole.subarray(0, left))],
    ["malformed", /./, [Buffer.from(malformed)]],
    [
      "without a file",
      /There must be a file in a part named file/,
      [
        [],
        [{ name: "file", content: "x" }],
        [other],
        [{ ...file, name: "File" }],
        [{ filename: "a.csv", content: "x" }],
      ].map((parts) => multipart(parts)),
    ],
    [
      "with several files",
      /one file only/,
      [
        [file, file],
        [file, other],
        [other, file],
      ].map((parts) => multipart(parts)),
    ],
    [
      "with a file of another type, or without a name",
      unsupported,
      ["a.xlsx", "a", "csv", "a.csv.zip", "a.csv ", "."]
        .map((filename) => multipart([{ ...file, filename }]))
        .concat(multipart([{ name: "file", type: "application/octet-stream", content: "x" }])),
    ],
  ])("a form that is %s; the error says so", async (_, error, forms) => {
    for (const form of forms) await expect(read(form)).rejects.toThrow(error);
  });

  test("a body that is not a form with its boundary", async () => {
    expect((await read(whole)).toString()).toBe(file.content);
    for (const type of ["multipart/form-data", "multipart/mixed; boundary=x", "text/csv", "nonsense"])
      await expect(read(whole, type)).rejects.toThrow(/multipart\/form-data/);
    await expect(read(whole, "multipart/form-data; boundary=other")).rejects.toThrow(/well-formed/);
  });
});

test("413: a file of more than 1 MiB, a far larger body, and more than 500 addresses", async () => {
  const { api } = await createOrganization();
  expect(await preview(api, csvOfSize(mebibyte))).toMatchObject({
    status: 200,
    body: { emails: [{ email: "ada@demo.example" }] },
  });
  for (const bytes of [mebibyte + 1, 3 * mebibyte])
    expectRefusal(await preview(api, csvOfSize(bytes)), 413, /^file: .*, more than 1 MiB: split it$/);
  for (const bytes of [mebibyte + 100_000, 9 * mebibyte])
    expectRefusal(await postForm(api, Buffer.alloc(bytes)), 413, /too large/);
  expect((await preview(api, numberedAddresses(500).join("\n"))).body.emails).toHaveLength(500);
  expectRefusal(await preview(api, numberedAddresses(501).join("\n")), 413, /more than 500 addresses/);
});

test("429: 20 an hour pass, counted before the body is read; commits do not count", () =>
  inOneWindow(3600, async () => {
    const { id: org, api } = await createOrganization();
    await presetCount(subjects.organization(org, "importPreviews"), 16, 3600);
    const replies = await Promise.all([
      ...[1, 2, 3].map(() => preview(api, "ada@demo.example")),
      ...[1, 2, 3].map(() => preview(api, "", "x.pdf")),
    ]);
    expect(countStatuses(replies)[429]).toBe(2);
    const limited = await postForm(api, "nonsense", "text/plain");
    expectRefusal(limited, 429, /hourly limit/);
    expect(Number(limited.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expectRefusal(await preview(api, "x".repeat(mebibyte + 1)), 429, /hourly limit/);
    expect((await api.post("/emails/import/commit", {})).status).toBe(400);
    expect((await countOrganization(org, "importCommits", new Date())).refusedSeconds).toBe(0);
  }));

test("401 comes before the body is read", async () =>
  expectRefusal(await preview(createClient({}), "", "x.pdf"), 401, /API key or session/));
