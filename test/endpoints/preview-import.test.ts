import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { countOrganization } from "../../shared/access/api/limits.ts";
import { admin } from "../service/admin.ts";
import { createClient } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { inOneWindow } from "./limit-window.ts";
import { countStatuses, expectEveryHeader, expectRefusal } from "./reply.ts";
import { boundary, multipart, postForm, preview } from "./upload.ts";

const mebibyte = 1024 * 1024;

/** A CSV file of exactly this size. */
const csvOfSize = (bytes: number): string => {
  const start = "email\nada@demo.example\n";
  return start + "\n".repeat(bytes - start.length);
};

const addDisabled = async ({ api, domainId }: Organization, email: string): Promise<void> => {
  const { id } = (await api.post("/emails", { email, domainId })).body;
  await api.patch(`/emails/${id}`, { isActive: false });
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

  test("reads a file whose quote never ends", async () => {
    const { api } = await createOrganization();
    const { emails } = (await preview(api, 'email,name\nada@demo.example,"Ada\nbob@demo.example,Bob\n')).body;
    expect(emails).toMatchObject([
      { email: "ada@demo.example", ownerName: "Ada", status: "will_import" },
      { email: "bob@demo.example", ownerName: "Bob", status: "will_import" },
    ]);
  });

  test("takes internationalized domains in either form", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id: idn } = await admin("domain add", { org, name: "münchen.example", verified: true });
    const file = [
      "Email,Name",
      "jörg@demo.example,Jörg",
      "ada@münchen.example,Ada",
      "Bob@xn--mnchen-3ya.example,Bob",
      "ada@xn--mnchen-3ya.example,Ada",
      "eve@ｄｅｍｏ.example,Eve",
      "mac@demo.example,Mac",
    ].join("\n");
    expect((await preview(api, file)).body.emails).toEqual([
      { email: "jörg@demo.example", domainId: null, status: "invalid", ownerName: "Jörg" },
      { email: "ada@xn--mnchen-3ya.example", domainId: idn, status: "will_import", ownerName: "Ada" },
      { email: "bob@xn--mnchen-3ya.example", domainId: idn, status: "will_import", ownerName: "Bob" },
      { email: "ada@xn--mnchen-3ya.example", domainId: idn, status: "duplicate", ownerName: "Ada" },
      { email: "eve@ｄｅｍｏ.example", domainId: null, status: "invalid", ownerName: "Eve" },
      { email: "mac@demo.example", domainId, status: "will_import", ownerName: "Mac" },
    ]);
  });

  test("gives a row for each address in file order, and a quote; imports nothing", async () => {
    const organization = await createOrganization({ "seat-price-cents": "250", interval: "year" });
    const { id: org, api, domainId } = organization;
    const { id: second } = await admin("domain add", { org, name: "two.example", verified: true });
    await admin("domain add", { org, name: "unverified.example" });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    await addDisabled(organization, "alan@demo.example");
    const file = [
      "Email;Name",
      "ADA@demo.example;Ada",
      "alan@demo.example;",
      " Grace@Demo.example ;Grace Hopper",
      "grace@demo.example;Grace again",
      "ada@demo.example;Ada again",
      "mary@two.example;",
      "x@unverified.example;",
      "x@sub.demo.example;",
      "x@unknown.example;X",
      "not an address;Y",
    ].join("\r\n");
    const reply = await preview(api, file);
    expect(reply).toMatchObject({
      status: 200,
      body: {
        emails: [
          { email: "ada@demo.example", domainId, status: "already_monitored", ownerName: "Ada" },
          { email: "alan@demo.example", domainId, status: "already_monitored" },
          { email: "grace@demo.example", domainId, status: "will_import", ownerName: "Grace Hopper" },
          { email: "grace@demo.example", domainId, status: "duplicate", ownerName: "Grace again" },
          { email: "ada@demo.example", domainId, status: "duplicate", ownerName: "Ada again" },
          { email: "mary@two.example", domainId: second, status: "will_import" },
          { email: "x@unverified.example", domainId: null, status: "invalid" },
          { email: "x@sub.demo.example", domainId: null, status: "invalid" },
          { email: "x@unknown.example", domainId: null, status: "invalid", ownerName: "X" },
          { email: "not an address", domainId: null, status: "invalid", ownerName: "Y" },
        ],
        quote: {
          interval: "year",
          isEstimate: true,
          newSeatsCount: 3,
          newActiveCount: 3,
          estimatedDeltaCents: 500,
        },
      },
    });
    const { emails } = reply.body as { emails: object[] };
    expect(emails).toHaveLength(10);
    expect(emails[1]).not.toHaveProperty("ownerName");
    expectEveryHeader(reply);
    expect((await api.get("/emails")).body.total).toBe(2);
  });

  test("rows carry the team of a column of teams; others have no such field", async () => {
    const { api, domainId } = await createOrganization();
    const file = "Email,Department,Name\nada@demo.example,Sales,Ada\nbob@demo.example,,Bob\n@,Sales,\n";
    expect((await preview(api, file)).body.emails).toEqual([
      { email: "ada@demo.example", domainId, status: "will_import", ownerName: "Ada", team: "Sales" },
      { email: "bob@demo.example", domainId, status: "will_import", ownerName: "Bob" },
      { email: "@", domainId: null, status: "invalid", team: "Sales" },
    ]);
  });

  test("a malformed address that contains a valid one is invalid, for the commit too", async () => {
    const { api, domainId } = await createOrganization();
    const malformed = [
      "o’neil@demo.example",
      "ja[n]e@demo.example",
      "x\u200b1@demo.example",
      "email=x1@demo.example",
      "jane doe@demo.example",
    ];
    const { body: plan } = await preview(api, ["email", ...malformed, "Ann|ann@demo.example"].join("\n"));
    expect(plan.emails).toEqual([
      ...malformed.map((email) => ({ email, domainId: null, status: "invalid" })),
      { email: "ann@demo.example", domainId, status: "will_import" },
    ]);
    expect((await api.post("/emails/import/commit", plan)).body).toMatchObject({
      importedCount: 1,
      skippedCount: malformed.length,
    });
  });

  test("quote: at least one seat is paid for, even without active e-mails", async () => {
    const { api } = await createOrganization({ "seat-price-cents": "100" });
    const quoteOf = async (file: string) => (await preview(api, file)).body.quote;
    const month = { interval: "month", isEstimate: true };
    expect(await quoteOf("x@other.example")).toEqual({
      ...month,
      newSeatsCount: 1,
      newActiveCount: 0,
      estimatedDeltaCents: 0,
    });
    expect(await quoteOf("a@demo.example")).toEqual({
      ...month,
      newSeatsCount: 1,
      newActiveCount: 1,
      estimatedDeltaCents: 0,
    });
    expect(await quoteOf("a@demo.example b@demo.example c@demo.example")).toEqual({
      ...month,
      newSeatsCount: 3,
      newActiveCount: 3,
      estimatedDeltaCents: 200,
    });
  });

  test("quote: addresses beyond the seat allowance are disabled and cost nothing", async () => {
    const { api, domainId } = await createOrganization({
      "seat-allowance": "3",
      "seat-price-cents": "100",
    });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const { emails, quote } = (await preview(api, numberedAddresses(5).join("\n"))).body;
    expect(emails).toHaveLength(5);
    expect(quote).toMatchObject({ newActiveCount: 3, newSeatsCount: 3, estimatedDeltaCents: 200 });
  });

  test("another organization's e-mails and domains do not count", async () => {
    const [{ api, domainId }, other] = await Promise.all([
      createOrganization(),
      createOrganization({}, { domain: "foreign.example" }),
    ]);
    await other.api.post("/emails", { email: "ada@foreign.example", domainId: other.domainId });
    const { emails } = (await preview(api, "ada@demo.example ada@foreign.example")).body;
    expect(emails).toEqual([
      { email: "ada@demo.example", domainId, status: "will_import" },
      { email: "ada@foreign.example", domainId: null, status: "invalid" },
    ]);
  });

  test.each(["people.csv", "people.tsv", "people.txt", "PEOPLE.CSV", "C:\\\\people.v2.Txt", "Größe.csv"])(
    "extension of %s",
    async (filename) => {
      const { api } = await createOrganization();
      expect((await preview(api, "ada@demo.example", filename)).status).toBe(200);
    },
  );

  // Something else may take the machine's time meanwhile.
  test("exactly 1 MiB and exactly 500 addresses, within 3 seconds", { retry: 2 }, async () => {
    const { api } = await createOrganization();
    expect(await preview(api, csvOfSize(mebibyte))).toMatchObject({
      status: 200,
      body: { emails: [{ email: "ada@demo.example" }] },
    });
    const startedAt = performance.now();
    const reply = await preview(api, numberedAddresses(500).join("\n"));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(reply.status).toBe(200);
    expect(reply.body.emails).toHaveLength(500);
  });

  test("other fields beside the file are ignored, as is the content type of the part", async () => {
    const { api } = await createOrganization();
    const body = multipart([
      { name: "__proto__", content: "x" },
      { name: "file", filename: "a.csv", type: "image/png", content: "ada@demo.example" },
      { name: "note", content: "x".repeat(1000) },
    ]);
    expect((await postForm(api, body)).status).toBe(200);
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
  test("a body that is not a form with a boundary", async () => {
    const { api } = await createOrganization();
    const form = multipart([{ name: "file", filename: "a.csv", content: "ada@demo.example" }]);
    for (const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "multipart/mixed; boundary=x",
      "application/json",
      "application/x-www-form-urlencoded",
      "text/csv",
      "nonsense",
      "multipart/form-data; boundary",
    ]) {
      expectRefusal(await postForm(api, form, type), 400, /multipart\/form-data/);
    }
    expectRefusal(await api.post("/emails/import/preview"), 400, /multipart\/form-data/);
    expectRefusal(await api.post("/emails/import/preview", { file: "x" }), 400, /multipart\/form-data/);
  });

  test("a form of another boundary, cut off, empty, or malformed", async () => {
    const { api } = await createOrganization();
    const part = { name: "file", filename: "a.csv", content: "ada@demo.example" };
    const whole = multipart([part]);
    expectRefusal(await postForm(api, whole, "multipart/form-data; boundary=other"), 400, /well-formed/);
    for (const left of [1, 20, 60, 90, 110, whole.length - 8]) {
      expectRefusal(await postForm(api, whole.subarray(0, left)), 400, /well-formed/);
    }
    expectRefusal(await postForm(api, multipart([part], "")), 400, /well-formed/);
    expectRefusal(await postForm(api, Buffer.alloc(100_000)), 400, /well-formed/);
    expectRefusal(await postForm(api, multipart([])), 400, /part named file/);
    const header = `--x\r\n${"A".repeat(20_000)}: b\r\n\r\ndata\r\n--x--\r\n`;
    expectRefusal(await postForm(api, header, "multipart/form-data; boundary=x"), 400, /./);
  });

  test("a missing file: no part, a field, or a part of another name or without one", async () => {
    const { api } = await createOrganization();
    const content = "ada@demo.example";
    const wrong = [
      [{ name: "other", content }],
      [{ name: "file", content }],
      [{ name: "files", filename: "a.csv", content }],
      [{ name: "File", filename: "a.csv", content }],
      [{ filename: "a.csv", content }],
    ];
    for (const parts of wrong) {
      expectRefusal(await postForm(api, multipart(parts)), 400, /There must be a file in a part named file/);
    }
  });

  test("several files, even when one is not named file; too many fields", async () => {
    const { api } = await createOrganization();
    const file = { name: "file", filename: "a.csv", content: "ada@demo.example" };
    for (const parts of [
      [file, file],
      [file, { ...file, name: "other" }],
      [{ ...file, name: "other" }, file],
    ]) {
      expectRefusal(await postForm(api, multipart(parts)), 400, /one file only/);
    }
    const fields = Array.from({ length: 30 }, (_, index) => ({ name: `f${index}`, content: "x" }));
    expectRefusal(await postForm(api, multipart([...fields, file])), 400, /too many fields/);
  });

  test("a file without a supported extension, or without a name", async () => {
    const { api } = await createOrganization();
    for (const filename of ["a.xlsx", "a", "csv", "a.csv.zip", "a.csv ", "a.json", ".", ""]) {
      const reply = await preview(api, "ada@demo.example", filename);
      expectRefusal(
        reply,
        400,
        filename === "" ? /file/ : /^file: must be saved as CSV .* \.csv, \.tsv, or \.txt$/,
      );
    }
    const unnamed = { name: "file", type: "application/octet-stream", content: "ada@demo.example" };
    expectRefusal(await postForm(api, multipart([unnamed])), 400, /^file: .* \.csv/);
  });

  test("a file that is empty, without addresses, or binary", async () => {
    const { api } = await createOrganization();
    expectRefusal(await preview(api, ""), 400, /^file: is empty$/);
    expectRefusal(await preview(api, " \n"), 400, /^file: is empty$/);
    expectRefusal(await preview(api, "email\nnobody\n"), 400, /^file: holds no e-mail addresses$/);
    expectRefusal(await preview(api, "x".repeat(900 * 1024)), 400, /^file: holds no e-mail addresses$/);
    const zip = Buffer.concat([Buffer.from("PK\x03\x04\x14\0\0\0\b\0"), deflateRawSync("a@demo.example")]);
    expectRefusal(await preview(api, zip), 400, /^file: is not/);
    expectRefusal(await preview(api, Buffer.alloc(1000)), 400, /^file: is not a text file$/);
    const long = `email,team\nada@demo.example,${"x".repeat(101)}`;
    expectRefusal(await preview(api, long), 400, /^file: the team "x+…" must have at most 100 characters$/);
  });
});

describe("413", () => {
  test("a file of more than 1 MiB, also when there is far more", async () => {
    const { api } = await createOrganization();
    for (const bytes of [mebibyte + 1, mebibyte + 60_000, 3 * mebibyte]) {
      expectRefusal(await preview(api, csvOfSize(bytes)), 413, /^file: is too large, more than 1 MiB$/);
    }
  });

  test("a body over the file limit plus its envelope, whatever it holds", async () => {
    const { api } = await createOrganization();
    expectRefusal(await postForm(api, Buffer.alloc(mebibyte + 100_000)), 413, /too large/);
    expectRefusal(await postForm(api, Buffer.alloc(9 * mebibyte)), 413, /too large/);
  });

  test("more than 500 extracted addresses", async () => {
    const { api } = await createOrganization();
    expectRefusal(await preview(api, numberedAddresses(501).join("\n")), 413, /more than 500 addresses/);
    expectRefusal(await preview(api, "x@other.example ".repeat(501)), 413, /more than 500 addresses/);
  });
});

describe("429", () => {
  test("20 an hour pass, counted before the body is read; commits do not count", () =>
    inOneWindow(3600, async () => {
      const { id: org, api } = await createOrganization();
      const replies = await Promise.all([
        ...Array.from({ length: 12 }, () => preview(api, "ada@demo.example")),
        ...Array.from({ length: 13 }, () => preview(api, "", "x.pdf")),
      ]);
      const { 429: refused, ...passed } = countStatuses(replies);
      expect(refused).toBe(5);
      expect((passed[200] ?? 0) + (passed[400] ?? 0)).toBe(20);
      const limited = await postForm(api, "nonsense", "text/plain");
      expectRefusal(limited, 429, /hourly limit/);
      expect(Number(limited.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect((await api.post("/emails/import/commit", {})).status).toBe(400);
      expect((await countOrganization(org, "importCommits", new Date())).refusedSeconds).toBe(0);
    }));
});

describe("401", () => {
  test("comes before the body is read", async () => {
    expectRefusal(await preview(createClient({}), "", "x.pdf"), 401, /API key or session/);
  });
});
