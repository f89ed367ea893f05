import { describe, expect, test } from "vitest";
import { asciiAddress, asciiDomain } from "../../../shared/contract/domain-name.ts";
import { domainName } from "../../../shared/monitoring/domains/domain-schema.ts";
import { emailAddress } from "../../../shared/monitoring/emails/email-schema.ts";
import reports from "../../cases/reports.json" with { type: "json" };

describe("an ASCII form", () => {
  // The ASCII forms are those of the registries' own converters.
  test.each([
    ["münchen.example", "xn--mnchen-3ya.example"],
    ["MÜNCHEN.Example", "xn--mnchen-3ya.Example"],
    ["a.xn--mnchen-3ya.例え", "a.xn--mnchen-3ya.xn--r8jz45g"],
    ["straße.example", "xn--strae-oqa.example"],
    ["ΠΑΡΆΔΕΙΓΜΑ.example", "xn--hxajbheg2az3al.example"],
    ["аpple.example", "xn--pple-43d.example"],
    ["نامه\u200cای.example", "xn--mgba3gch31f060k.example"],
    ["münchen\u3002example", "xn--mnchen-3ya.example"],
    ["mail\uff0edemo\uff61example", "mail.demo.example"],
  ])("of %s is %s", (written, ascii) => {
    expect(asciiDomain(written)).toBe(ascii);
    expect(domainName.parse(` ${written} `)).toBe(ascii.toLowerCase());
  });

  test.each(reports.domains)("of $written is as reported in $reported", ({ written, ascii }) => {
    expect(domainName.parse(written)).toBe(ascii);
    expect(emailAddress.parse(`info@${written}`)).toBe(`info@${ascii}`);
  });

  test("is the same however letters with marks are composed", () => {
    expect(asciiDomain("mu\u0308nchen.example")).toBe("xn--mnchen-3ya.example");
  });

  test.each([
    ["full-width letters of another name", "ａｃｍｅ.example"],
    ["full-width digits, which are an IP address", "１２７.１"],
    ["the Kelvin sign", "acme\u212a.example"],
    ["a ligature", "ﬁnü.example"],
    ["a sign that becomes a slash", "ü℀evil.example"],
    ["a slash, which ends a host in a url", "münchen.example/x"],
    ["a query", "mü?nchen.example"],
    ["a name in front of an @ in a url", "acme.example@münchen.example"],
    ["an escape of a url", "m%C3%BCnchen.ü"],
    ["a soft hyphen", "mün\u00adchen.example"],
    ["a zero-width space", "mün\u200bchen.example"],
    ["a dot of another script at its end", "münchen.example。"],
    ["a quote", "mün’chen.example"],
    ["an emoji", "i❤.example"],
    ["an invisible mark", "mün\u034fchen.example"],
    ["half of a surrogate pair", "ü\ud800.example"],
    ["a label that says that it is ASCII", "xn--ü.example"],
  ])("does not exist of %s", (_, written) => {
    expect(domainName.safeParse(written).success).toBe(false);
    expect(emailAddress.safeParse(`ada@${written}`).success).toBe(false);
  });

  test("counts: a label has at most 63 characters and a name 253", () => {
    expect(domainName.safeParse(`${"ü".repeat(50)}.example`).success).toBe(true);
    expect(domainName.safeParse(`${"ü".repeat(62)}.example`).success).toBe(false);
    const label = `${"ü".repeat(15)}.`;
    expect(domainName.safeParse(`${label.repeat(10)}example`).success).toBe(true);
    expect(domainName.safeParse(`${label.repeat(15)}example`).success).toBe(false);
  });
});

describe("an e-mail address", () => {
  test("has its domain in ASCII, and keeps what is in front of the @", () => {
    expect(asciiAddress("Ada+x@münchen.example")).toBe("Ada+x@xn--mnchen-3ya.example");
    expect(asciiAddress("jörg@münchen.example")).toBe("jörg@xn--mnchen-3ya.example");
    expect(emailAddress.parse("ADA@MÜNCHEN.example")).toBe("ada@xn--mnchen-3ya.example");
    expect(emailAddress.parse("ada@demo\u3002example")).toBe("ada@demo.example");
    expect(emailAddress.safeParse("ada\u3002l@demo.example").success).toBe(false);
  });

  test("of more than 254 characters in ASCII is refused", () => {
    const domain = `${"ü".repeat(40)}.${"ü".repeat(40)}.example`;
    const local = (length: number) => `${"a".repeat(length)}@${domain}`;
    const longest = 254 - asciiAddress(local(0)).length;
    expect(emailAddress.safeParse(local(longest)).success).toBe(true);
    expect(emailAddress.safeParse(local(longest + 1)).success).toBe(false);
  });
});
