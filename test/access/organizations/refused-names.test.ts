import { describe, expect, test } from "vitest";
import { refusalOf } from "../../../shared/monitoring/domains/refused-names.ts";

describe("names that no organization can own", () => {
  test.each(["co.uk", "github.io", "s3.amazonaws.com", "kobe.jp", "a.ck", "xn--55qx5d.cn"])(
    "refuses the public suffix %s",
    (name) => {
      expect(refusalOf(name)).toContain("public suffix");
    },
  );

  test.each([
    "gmail.com",
    "googlemail.com",
    "outlook.com",
    "hotmail.fr",
    "yahoo.co.uk",
    "web.de",
    "proton.me",
  ])("refuses the provider of mailboxes %s", (name) => {
    expect(refusalOf(name)).toContain("provider of mailboxes");
  });

  test.each([
    "demo.example",
    "example.co.uk",
    "ada.github.io",
    "mail.gmail.com.example",
    "yahoo-inc.com",
    "live.example",
  ])("takes %s", (name) => {
    expect(refusalOf(name)).toBeUndefined();
  });
});
