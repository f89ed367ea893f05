import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { isPublicAddress, parseDestination } from "../../shared/alerting/kinds/destination.ts";
import { anyCharacter } from "../any-character.ts";
import addressCases from "../cases/addresses.json" with { type: "json" };
import urlCases from "../cases/destination-urls.json" with { type: "json" };

afterEach(() => {
  delete process.env.OUTBOUND_ALLOWED_ORIGINS;
});

const verdict = (url: string) => (parseDestination(url).ok ? "accept" : "reject");

/** IANA's special-purpose registry, and Azure's host. Tests draw both ends and random addresses of each. */
const specialIpv4Ranges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");

const specialIpv4 = fc.oneof(
  ...specialIpv4Ranges.map((range) => {
    const [base = "", length = ""] = range.split("/");
    const first = base.split(".").reduce((value, part) => value * 256 + Number(part), 0);
    const last = first + 2 ** (32 - Number(length)) - 1;
    return fc.oneof(fc.constantFrom(first, last), fc.integer({ min: first, max: last }));
  }),
);

const halves = (value: number) => [(value >>> 16).toString(16), (value & 0xffff).toString(16)].join(":");

/** Ways to embed an IPv4 address in an IPv6 address. */
const embeddings: ((value: number) => string)[] = [
  (value) => `::${halves(value)}`,
  (value) => `::${dotted(value)}`,
  (value) => `::ffff:${halves(value)}`,
  (value) => `::ffff:${dotted(value)}`,
  (value) => `::ffff:0:${halves(value)}`,
  (value) => `64:ff9b::${halves(value)}`,
  (value) => `64:ff9b:1::${halves(value)}`,
  (value) => `64:ff9b:1:${halves(value)}:0:0:0`,
  (value) => `2002:${halves(value)}::1`,
  (value) => `2001:0:${halves(value)}::`,
  (value) => `2001::${halves(~value >>> 0)}`,
  (value) => `fe80::5efe:${halves(value)}`,
  (value) => `2a00:1450:4001:81::5efe:${halves(value)}`,
  (value) => `2a00:1450:4001:81:200:5efe:${halves(value)}`,
];

describe("isPublicAddress", () => {
  test.each(addressCases)("$address: $verdict", ({ address, verdict: expected }) => {
    expect(isPublicAddress(address)).toBe(expected === "accept");
  });

  test("refuses every address of the special IPv4 ranges", () => {
    fc.assert(fc.property(specialIpv4, (value) => !isPublicAddress(dotted(value))));
  });

  test("refuses every IPv6 address that embeds an IPv4 address", () => {
    const any = fc.oneof(specialIpv4, fc.nat({ max: 0xffff_ffff }));
    fc.assert(
      fc.property(any, fc.constantFrom(...embeddings), (value, embed) => !isPublicAddress(embed(value))),
      { numRuns: 2000 },
    );
  });

  test("refuses everything outside of 2000::/3", () => {
    const outside = fc.tuple(fc.nat({ max: 0xffff }), fc.ipV6()).filter(([head]) => head >>> 13 !== 1);
    fc.assert(fc.property(outside, ([head]) => !isPublicAddress(`${head.toString(16)}:4860:4860::8888`)));
  });

  test.each([
    "2001:db8::1",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:3::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "5f00::1",
    "2620:4f:8000:ffff::1",
    "2606:4700::1%lo",
    "127.1",
    "0x8.8.8.8",
    "08.8.8.8",
    "134744072",
    "8.8.8.8.",
    "[2606:4700::1]",
    "",
    "example.com",
  ])("refuses %s", (address) => expect(isPublicAddress(address)).toBe(false));

  test.each([
    "8.8.8.8",
    "9.255.255.255",
    "100.63.255.255",
    "100.128.0.0",
    "172.32.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2001:200::1",
  ])("accepts %s", (address) => expect(isPublicAddress(address)).toBe(true));
});

describe("parseDestination", () => {
  test.each(urlCases)("$url: $verdict", ({ url, verdict: expected }) => {
    expect(verdict(url)).toBe(expected);
  });

  test.each([
    ["https://example.com:443/", "accept"],
    ["https://example.com:8443/hook?a=%20b", "accept"],
    ["https://example.com:/", "accept"],
    ["https://xn--exmple-cua.com/", "accept"],
    ["https://[2606:4700:4700::1111]:8443/", "accept"],
    ["https://example.com/a@b", "accept"],
    ["https://example.com?u=a@b", "accept"],
    ["https://8.8.8.8.nip.io/", "accept"],
    ["https://example.com:80/", "reject"],
    ["https://example.com:22/", "reject"],
    ["https://[2606:4700:4700:0:0:0:0:1111]/", "reject"],
    ["https://[::ffff:8.8.8.8]/", "reject"],
    ["https://１２７.0.0.1/", "reject"],
    ["https://⑧.8.8.8/", "reject"],
    ["https://8.8.2056/", "reject"],
    ["https://134744072/", "reject"],
    ["https://loc\u00adalhost/", "reject"],
    ["https://exam\u00adple.com/", "reject"],
    ["https://exam%70le.com/", "reject"],
    ["https://example.com/\u2028", "reject"],
    ["https://example.com/a b", "reject"],
    ["https://example.com\t/", "reject"],
    [" https://example.com/", "reject"],
    ["https://example.com/\ud800", "reject"],
    ["http://example.com/", "reject"],
    ["wss://example.com/", "reject"],
    ["https:\\\\example.com/", "reject"],
    ["https:example.com", "reject"],
    ["https://LOCALHOST/", "reject"],
    ["https://printer.local/", "reject"],
    ["https://printer.LAN./", "reject"],
    ["https://vault.service.internal/", "reject"],
    ["https://router.home.arpa/", "reject"],
    ["https://1.0.0.127.in-addr.arpa/", "reject"],
    ["https://hidden.onion/", "reject"],
    ["https://-a.example.com/", "reject"],
    ["https://a!b.example.com/", "reject"],
    ["https://*.example.com/", "reject"],
    ["https://.example.com/", "reject"],
    [`https://${"a".repeat(64)}.example.com/`, "reject"],
    [`https://${"a".repeat(63)}.example.com/`, "accept"],
    [`https://${"a".repeat(62)}.${"b".repeat(62)}.${"c".repeat(62)}.${"d".repeat(60)}.com/`, "accept"],
    [`https://${"a".repeat(62)}.${"b".repeat(62)}.${"c".repeat(62)}.${"d".repeat(61)}.com/`, "reject"],
    ["", "reject"],
  ])("%j: %s", (url, expected) => expect(verdict(url)).toBe(expected));

  test("accepts at most 2048 characters", () => {
    const url = `https://example.com/${"a".repeat(2028)}`;
    expect(verdict(url)).toBe("accept");
    expect(verdict(`${url}a`)).toBe("reject");
  });

  test("refuses a special IPv4 address, however it is written", () => {
    const part = (value: number) =>
      fc.constantFrom(
        String(value),
        `0x${value.toString(16)}`,
        `0${value.toString(8)}`,
        `00${value}`,
        `${value}.`,
      );
    const written = specialIpv4.chain((value) =>
      fc.oneof(
        part(value),
        fc
          .tuple(
            ...dotted(value)
              .split(".")
              .map((octet) => part(Number(octet))),
          )
          .map((parts) => parts.join(".")),
        fc.tuple(part(value >>> 24), part(value & 0xff_ffff)).map((parts) => parts.join(".")),
        fc.constantFrom(...embeddings).map((embed) => `[${embed(value)}]`),
      ),
    );
    fc.assert(
      fc.property(written, (host) => verdict(`https://${host}/`) === "reject"),
      { numRuns: 3000 },
    );
  });

  test("never throws, and gives no reason that contains the url", () => {
    const url = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string().map((text) => `https://${text}`),
      fc
        .tuple(fc.domain(), fc.nat(70_000), fc.string({ unit: anyCharacter }))
        .map(([host, port, text]) => `https://${host}:${port}/${text}`),
    );
    const phrases = new Set([
      "address is not in its canonical form",
      "destination is not public",
      "host contains a percent sign",
      "host is a reserved name",
      "host is not a valid public name",
      "port is not allowed",
      "url contains a space, backslash or control character",
      "url contains credentials",
      "url is longer than 2048 characters",
      "url is not valid",
      "url must start with https://",
      "url must start with https:// and a host",
    ]);
    fc.assert(
      fc.property(url, (raw) => {
        const parsed = parseDestination(raw);
        return parsed.ok || phrases.has(parsed.reason);
      }),
      { numRuns: 2000 },
    );
    const refused = parseDestination("https://user:hunter2@example.com/s3cret?t=s3cret");
    expect(JSON.stringify(refused)).not.toMatch(/hunter2|s3cret|example/);
  });

  test("distinguishes addresses from names, and removes a trailing dot", () => {
    expect(parseDestination("https://8.8.8.8/")).toMatchObject({
      host: { kind: "address", address: "8.8.8.8" },
    });
    expect(parseDestination("https://[2606:4700::1]/")).toMatchObject({
      host: { kind: "address", address: "2606:4700::1" },
    });
    const named = parseDestination("https://Hooks.Acme.io.:8443/x?y");
    expect(named).toMatchObject({ host: { kind: "name", name: "hooks.acme.io" }, exempt: false });
    expect(named.ok && named.url.href).toBe("https://hooks.acme.io:8443/x?y");
  });

  test("exempts exactly the origins of the allow-list", () => {
    process.env.OUTBOUND_ALLOWED_ORIGINS = "http://127.0.0.1:4000, https://localhost:4001/";
    expect(verdict("http://127.0.0.1:4000/hook")).toBe("accept");
    expect(verdict("https://localhost:4001/hook")).toBe("accept");
    expect(verdict("https://example.com/")).toBe("accept");
    for (const url of [
      "https://127.0.0.1:4000/",
      "http://127.0.0.1:40001/",
      "http://127.0.0.1/",
      "http://127.0.0.1:4000@10.0.0.1/",
      "http://user:pw@127.0.0.1:4000/",
      "http://127.1:4000/",
      "http://localhost:4001/",
      "http://example.com/",
      "file:///etc/passwd",
    ]) {
      expect(verdict(url), url).toBe("reject");
    }
    delete process.env.OUTBOUND_ALLOWED_ORIGINS;
    expect(verdict("http://127.0.0.1:4000/hook")).toBe("reject");
  });
});
