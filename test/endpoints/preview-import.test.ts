import { describe, expect, test } from "vitest";
import { countOrganization } from "../../shared/access/api/limits.ts";
import { admin } from "../service/admin.ts";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { inOneWindow, presetCount, subjects } from "./limit-window.ts";
import { countStatuses, expectEveryHeader, expectRefusal } from "./reply.ts";
import { boundary, multipart, postForm, preview } from "./upload.ts";

const mebibyte = 1024 * 1024;

/** A CSV file of exactly this size. */
const csvOfSize = (bytes: number): string => {
  const start = "email\nada@demo.example\n";
  return start + "\n".repeat(bytes - start.length);
};

describe("200", () => {
  test("include=columns adds the columns, which are not part of the plan", async () => {
    const { api } = await createOrganization();
    const file = "email,name,phone\nada@demo.example,Ada,1\n,Bob,2";
    const reply = await api.request("POST", "/emails/import/preview?include=columns", {
      raw: multipart([{ name: "file", filename: "people.csv", content: file }]),
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    });
    const { columns, ...plan } = reply.body;
    expect(columns).toEqual({ used: ["email", "name"], ignored: ["phone"], withoutAddress: ["Bob"] });
    expect((await preview(api, file)).body).toEqual(plan);
    expect(await api.post("/emails/import/commit", reply.body)).toMatchObject({ status: 200 });
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
    expectEveryHeader(reply);
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
  const file = { name: "file", filename: "a.csv", content: "ada@demo.example" };

  test("a body that is not a form with a boundary", async () => {
    const { api } = await createOrganization();
    for (const type of ["multipart/form-data", "multipart/mixed; boundary=x", "text/csv", "nonsense"]) {
      expectRefusal(await postForm(api, multipart([file]), type), 400, /multipart\/form-data/);
    }
    expectRefusal(await api.post("/emails/import/preview"), 400, /multipart\/form-data/);
  });

  test("a form of another boundary, cut off, empty, or malformed", async () => {
    const { api } = await createOrganization();
    const whole = multipart([file]);
    expectRefusal(await postForm(api, whole, "multipart/form-data; boundary=other"), 400, /well-formed/);
    for (const left of [1, 60, whole.length - 8]) {
      expectRefusal(await postForm(api, whole.subarray(0, left)), 400, /well-formed/);
    }
    expectRefusal(await postForm(api, multipart([])), 400, /part named file/);
    const header = `--x\r\n${"A".repeat(20_000)}: b\r\n\r\ndata\r\n--x--\r\n`;
    expectRefusal(await postForm(api, header, "multipart/form-data; boundary=x"), 400, /./);
  });

  test("a missing file, several files, or too many fields", async () => {
    const { api } = await createOrganization();
    const { content } = file;
    const other = { ...file, name: "other" };
    const missing = [
      { name: "file", content },
      other,
      { ...file, name: "File" },
      { filename: "a.csv", content },
    ];
    for (const part of missing) {
      expectRefusal(await postForm(api, multipart([part])), 400, /There must be a file in a part named file/);
    }
    for (const parts of [
      [file, file],
      [file, other],
      [other, file],
    ]) {
      expectRefusal(await postForm(api, multipart(parts)), 400, /one file only/);
    }
    const fields = Array.from({ length: 30 }, (_, index) => ({ name: `f${index}`, content: "x" }));
    expectRefusal(await postForm(api, multipart([...fields, file])), 400, /too many fields/);
  });

  test("a file without a supported extension, or without a name", async () => {
    const { api } = await createOrganization();
    const unsupported = /^file: must be saved as CSV .* \.csv, \.tsv, or \.txt$/;
    for (const filename of ["a.xlsx", "a", "csv", "a.csv.zip", "a.csv ", "."]) {
      expectRefusal(await preview(api, "ada@demo.example", filename), 400, unsupported);
    }
    const unnamed = { name: "file", type: "application/octet-stream", content: "ada@demo.example" };
    expectRefusal(await postForm(api, multipart([unnamed])), 400, /^file: .* \.csv/);
  });

  test("a file that is empty, without addresses, or binary", async () => {
    const { api } = await createOrganization();
    expectRefusal(await preview(api, ""), 400, /^file: is empty$/);
    expectRefusal(await preview(api, "email\nnobody\n"), 400, /^file: holds no e-mail addresses$/);
    expectRefusal(await preview(api, Buffer.alloc(1000)), 400, /^file: is not a text file$/);
    const long = `email,team\nada@demo.example,${"x".repeat(101)}`;
    expectRefusal(await preview(api, long), 400, /^file: the team "x+…" must have at most 100 characters$/);
  });
});

describe("413", () => {
  test("a file of more than 1 MiB, or a body that is far larger, whatever it holds", async () => {
    const { api } = await createOrganization();
    expect(await preview(api, csvOfSize(mebibyte))).toMatchObject({
      status: 200,
      body: { emails: [{ email: "ada@demo.example" }] },
    });
    for (const bytes of [mebibyte + 1, 3 * mebibyte]) {
      expectRefusal(await preview(api, csvOfSize(bytes)), 413, /^file: .*, more than 1 MiB: split it$/);
    }
    for (const bytes of [mebibyte + 100_000, 9 * mebibyte]) {
      expectRefusal(await postForm(api, Buffer.alloc(bytes)), 413, /too large/);
    }
  });

  test("more than 500 addresses, repeated and malformed ones counted", async () => {
    const { api } = await createOrganization();
    expect((await preview(api, numberedAddresses(500).join("\n"))).body.emails).toHaveLength(500);
    expectRefusal(await preview(api, numberedAddresses(501).join("\n")), 413, /more than 500 addresses/);
    expectRefusal(await preview(api, "x@other.example ".repeat(501)), 413, /more than 500 addresses/);
  });
});

describe("429", () => {
  test("20 an hour pass, counted before the body is read; commits do not count", () =>
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
});

test("401 comes before the body is read", async () =>
  expectRefusal(await preview(createClient({}), "", "x.pdf"), 401, /API key or session/));
