import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf, changed, offsetOf, placeOf } from "../../dashboard/place.ts";
import { anyCharacter } from "../any-character.ts";

test.each([
  ["/api/app", "/"],
  ["/api/app/", "/"],
  ["/api/app/findings", "/findings"],
  ["/api/app/findings/", "/findings"],
  ["/api/app//settings//teams/", "/settings/teams"],
  ["/elsewhere", "/"],
])("%s is the place %s", (pathname, path) => {
  expect(placeOf(pathname, "").path).toBe(path);
});

test("an address leaves out what has no value", () => {
  expect(addressOf("/")).toBe("/api/app/");
  expect(addressOf("/findings", { acknowledged: false, breachId: 3, scanId: undefined, domainId: "" })).toBe(
    "/api/app/findings?acknowledged=false&breachId=3",
  );
});

test("a changed filter leads to the first page, another page keeps the filters", () => {
  const place = placeOf("/api/app/findings", "?breachId=3&offset=50");
  expect(changed(place, { acknowledged: "true" })).toBe("/api/app/findings?breachId=3&acknowledged=true");
  expect(changed(place, { breachId: undefined })).toBe("/api/app/findings");
  expect(changed(place, { offset: 100 })).toBe("/api/app/findings?breachId=3&offset=100");
});

test("every query comes back as it was", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  const value = fc.string({ unit: anyCharacter, minLength: 1 });
  fc.assert(
    fc.property(fc.dictionary(name, value), (query) => {
      const url = new URL(addressOf("/findings", query), "https://x.example");
      expect({ ...placeOf(url.pathname, url.search).query }).toEqual({ ...query });
    }),
  );
});

test.each([
  ["100", 100],
  ["", 0],
  ["-1", 0],
  ["1e3", 0],
  ["x", 0],
  ["9".repeat(30), 0],
])("the offset %j is %d", (offset, expected) => {
  expect(offsetOf({ offset })).toBe(expected);
});
