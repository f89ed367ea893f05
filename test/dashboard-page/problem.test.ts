import { expect, test } from "vitest";
import { Failure, problemIn, wordsOf } from "../../dashboard/api/failure.ts";
import { sentenceAbout } from "../../dashboard/text/problem.ts";
import { type RefusalName, refusals } from "../../shared/contract/errors.ts";

const refused = (error: string, status = 400): Failure => {
  const words = wordsOf(error);
  return new Failure(words.text, { ...words, status });
};

test.each([
  ["config.url: host is a reserved name", "destination", "The host is a reserved name."],
  ["config.url: destination is not public", "destination", "Destination is not public."],
  ["config.recipients.3: must be an e-mail address", "destination", "Field must be an e-mail address."],
  ["name: gmail.com is a provider of mailboxes", "name", "gmail.com is a provider of mailboxes."],
  ["name must be a domain name", "name", "Field must be a domain name."],
  ["This email is already monitored", "email", "This address is already watched."],
  ["The organization already has a team of this name", "name", "There is already a team of this name."],
])("%s stands at its field", (error, name, sentence) => {
  const problem = problemIn(refused(error), ["destination", "email", "name"]);
  expect(problem?.name).toBe(name);
  expect(sentenceAbout("Field", problem?.text ?? "")).toBe(sentence);
});

test.each([
  [
    "filter.severity: must be low or high",
    "The service does not take what this page has sent: reload the page, and try again.",
  ],
  ["q: must have at least 2 characters", "The search must have at least 2 characters."],
  ["file: holds more than 500 addresses: split it", "The file holds more than 500 addresses: split it."],
])("%s leaks no path where no field shows it", (error, sentence) => {
  expect(problemIn(refused(error), ["reason"])).toBe(undefined);
  expect(refused(error).message).toBe(sentence);
});

test("no refusal reaches people with the path of a field, and each is a sentence", () => {
  for (const name of Object.keys(refusals) as RefusalName[]) {
    const { message } = refused(refusals[name].error);
    expect(message).toMatch(/^[A-Z].*[.!?]$/);
    expect(message).not.toMatch(/^\S+: /);
  }
});
