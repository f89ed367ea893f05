import { describe, expect, test } from "vitest";
import { domainIn, inBothForms as ofPage } from "../../dashboard/text/domain-name.ts";
import { inBothForms } from "../../shared/alerting/messages/items.ts";
import { asciiDomain } from "../../shared/contract/domain-name.ts";

const names = [
  "münchen.example",
  "straße.example",
  "παράδειγμα.example",
  "пример.example",
  "例え.テスト",
  "भारत.example",
  "col·lecció.example",
  "a.bücher-größe.co.example",
  "аpple.example",
];

describe("an internationalized name", () => {
  test.each(names)("%s is read by the page as the service reads it", (name) => {
    const ascii = asciiDomain(name);
    expect(ascii).toMatch(/^[a-z0-9.-]+$/);
    for (const text of [ascii, `Ada@${ascii}`]) {
      expect(ofPage(text)).toBe(text.replace(ascii, `${name} (${text})`).replace(/^(Ada@)/, "$1"));
      expect(inBothForms(text)).toBe(ofPage(text));
    }
  });

  test.each([
    "acme.example",
    "ada@acme.example",
    "r3---sn-abc.example",
    "xn--a.example",
    "xn--999999999999.example",
    "xn--.example",
    "xn--acme-.example",
    "xn--\u00fc.example",
    "no domain",
    "xn--mnchen-3ya@acme.example",
  ])("%s has no other form", (text) => {
    expect(ofPage(text)).toBe(text);
    expect(inBothForms(text)).toBe(text);
  });
});

test.each([
  ["https://www.acme.example/", "acme.example"],
  [" http://acme.example:8080/contact?a=b#c ", "acme.example"],
  ["ada@acme.example", "acme.example"],
  ["mailto:ada@acme.example", "acme.example"],
  ["www.example", "www.example"],
  ["münchen.example", "münchen.example"],
  ["mail.acme.example", "mail.acme.example"],
])("the domain in %s is %s", (pasted, domain) => {
  expect(domainIn(pasted)).toBe(domain);
});
