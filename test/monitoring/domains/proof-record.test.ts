import { describe, expect, test } from "vitest";
import { isProof, mistakenNames, recordOf } from "../../../shared/monitoring/domains/proof-record.ts";
import reports from "../../cases/reports.json" with { type: "json" };

const domain = { name: "acme.example", proofToken: "0123456789abcdef0123456789abcdef" };
const { value } = recordOf(domain);

describe("a record proves a domain", () => {
  test.each([
    ["as it should be", value],
    ["with the quotes of a zone file", `"${value}"`],
    ["with escaped quotes", `\\"${value}\\"`],
    [
      "with the quotes of a text processor, as Node.js reads their bytes",
      Buffer.from(`“${value}”`).toString("latin1"),
    ],
    ["with a space behind it", `${value} `],
    ["with a no-break space, as Node.js reads its bytes", Buffer.from(`${value}\u00a0`).toString("latin1")],
    ["with spaces around the equals sign", value.replace("=", " = ")],
    ["in capitals", value.toUpperCase()],
    ["with other words around it", `Breach Monitor: ${value}; do not delete`],
    ["as a whole line of a zone file", `_breach-monitor.acme.example. 300 IN TXT "${value}"`],
  ])("%s", (_, written) => {
    expect(isProof(domain, ["v=spf1 -all", written])).toBe(true);
  });

  test.each(reports.records)("as reported in $reported", ({ values }) => {
    expect(
      isProof(
        domain,
        values.map((written) => written.replace("VALUE", value)),
      ),
    ).toBe(true);
  });

  test.each([
    ["none", []],
    ["an empty one", [""]],
    ["another token", [value.replace("0123", "3210")]],
    ["a part of it", [value.slice(0, -1)]],
    ["its halves in two records", [value.slice(0, 20), value.slice(20)]],
    ["the token alone", [domain.proofToken]],
    ["with a digit directly behind it", [`${value}0`]],
    ["with a word directly behind it", [`"${value}ttl"`]],
    ["with a word directly before it", [`my${value}`]],
  ])("but not %s", (_, values) => {
    expect(isProof(domain, values)).toBe(false);
  });
});

describe("a misplaced record is sought", () => {
  test("below the zone once more, and at the domain itself", () => {
    expect(mistakenNames({ name: "acme.example" })).toEqual([
      "_breach-monitor.acme.example.acme.example",
      "breach-monitor.acme.example",
      "acme.example",
    ]);
  });

  test.each(reports.recordNames)("where $reported had it", ({ domain: name, written }) => {
    expect(mistakenNames({ name })).toContain(written);
  });

  test("in the zone of a parent", () => {
    expect(mistakenNames({ name: "mail.acme.co.example" })).toEqual([
      "_breach-monitor.mail.acme.co.example.mail.acme.co.example",
      "_breach-monitor.mail.acme.co.example.acme.co.example",
      "_breach-monitor.mail.acme.co.example.co.example",
      "_breach-monitor.acme.co.example",
      "_breach-monitor.co.example",
      "breach-monitor.mail.acme.co.example",
      "mail.acme.co.example",
    ]);
  });

  test("in a few places, however many labels a domain has", () => {
    expect(mistakenNames({ name: `${"a.".repeat(100)}example` })).toHaveLength(7);
  });
});
