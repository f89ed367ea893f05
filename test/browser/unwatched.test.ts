import { expect, test } from "vitest";
import * as breachDetails from "../../shared/hibp/breach-details.ts";
import { levelOf } from "../../shared/hibp/severity.ts";
import { keep } from "../../shared/monitoring/unwatched/keep.ts";
import * as store from "../../shared/monitoring/unwatched/store.ts";
import { addEmail } from "../endpoints/emails.ts";
import { claim } from "../monitoring/unwatched/claim.ts";
import { createScanned } from "../service/scanned.ts";
import { follow, press } from "./keyboard.ts";
import { go, isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** As a scan keeps a later answer of HIBP, which names these too, in breaches with these ids. */
const answerLater = async (
  { id: org, domainId }: { id: number; domainId: number },
  added: Record<string, number[]>,
): Promise<void> => {
  const { kept } = await store.read(org, domainId);
  const domain = await claim(org, { id: domainId }, 1_000);
  const named = [
    ...kept.breached.map(({ alias, breachIds }) => ({ alias, breachIds })),
    ...Object.entries(added).map(([alias, breachIds]) => ({ alias, breachIds })),
  ];
  await keep(org, 1_000, { domain, named, subAddresses: new Map() });
};

const breachOf = async (level: number): Promise<number> => {
  const names = [...(await breachDetails.readNames()).values()];
  return names.find((each) => each.level === level)?.id ?? 0;
};

test("Domains counts the unwatched; the keyboard ignores one, watches one at a price", async () => {
  const { api, domainId, ...organization } = await createScanned(["grace"]);
  const { page } = await signInTo(organization);
  await follow(page, "Domains");
  const counted = page.getByRole("link", { name: /^In breaches, not watched: \d+$/ });
  await press(page, await counted.innerText());
  await page.getByRole("heading", { level: 1, name: "In breaches, not watched" }).waitFor();
  await isLoaded(page);
  const select = async () => {
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByText("1 selected").waitFor();
    return page.getByRole("rowheader").first().innerText();
  };
  const ignored = await select();
  const row = page.getByRole("rowheader", { name: ignored });
  await press(page, "Ignore");
  await page.getByText("Ignored 1 address.").waitFor();
  await row.waitFor({ state: "detached" });
  await page.getByLabel("State").selectOption("Ignored");
  await row.waitFor();
  await page.getByLabel("State").selectOption("To decide");
  await row.waitFor({ state: "detached" });

  const watched = await select();
  await press(page, "Watch");
  const dialog = page.getByRole("dialog", { name: "Watch 1 address" });
  await dialog.getByText("2 addresses are watched").waitFor();
  await press(page, "Watch");
  await page.getByText("Added 1 address. Findings follow with the next scan.").waitFor();
  await page.getByRole("rowheader", { name: watched }).waitFor({ state: "detached" });
  // One that was added elsewhere stays on the list until the next scan.
  await addEmail(api, domainId, await select());
  await press(page, "Watch");
  await page.getByRole("dialog").getByText("3 addresses are watched").waitFor();
  await press(page, "Watch");
  await page.getByText("All of them were watched already.").waitFor();
  const { emails } = (await api.get("/emails")).body;
  expect((emails as { email: string }[]).map(({ email }) => email)).toContain(watched);
});

test("Overview is red for a stealer log that names a stranger, who is first in lists", async () => {
  const organization = await createScanned(["grace"]);
  const stealer = await breachOf(levelOf("critical"));
  const { page } = await signInTo(organization, { place: "/" });
  const link = page.getByRole("link", { name: /^In breaches, not watched: \d+$/ });
  await link.waitFor();
  const colour = () =>
    page.evaluate<string>(`getComputedStyle(document.querySelector("a[href*=unwatched]")).color`);
  const plain = await colour();
  await answerLater(organization, { stranger: [stealer] });
  await page.reload();
  await page.getByText(/^New since .*: in a breach of high severity or above$/).waitFor();
  expect(await colour()).not.toBe(plain);
  await link.click();
  const first = page.getByRole("rowheader").first();
  await first.filter({ hasText: "stranger@demo.example" }).waitFor();

  await go(page, "Breaches");
  const row = page.getByRole("row").filter({ hasText: "Stealer" }).first();
  const title = await row.getByRole("link").innerText();
  await row.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.getByRole("heading", { name: /^Not watched: \d+$/ }).waitFor();
  await first.filter({ hasText: "stranger@demo.example" }).waitFor();
  // The row where people are is ignored, and comes back.
  await page.keyboard.press("j");
  await page.keyboard.press("i");
  await page.getByText("Ignored 1 address.").waitFor();
  await page.getByRole("rowheader", { name: "stranger@demo.example" }).waitFor({ state: "detached" });
  await page.keyboard.press("z");
  await page.getByText("1 address no longer ignored.").waitFor();
  await page.getByRole("rowheader", { name: "stranger@demo.example" }).waitFor();
});

test("50 addresses ignored by one click come back by Undo, with what is known of them", async () => {
  const organization = await createScanned(["grace"]);
  const low = await breachOf(levelOf("low"));
  const names = Array.from({ length: 120 }, (_, index) => `${index < 50 ? "fifty" : "other"}${index}`);
  await answerLater(organization, Object.fromEntries(names.map((name) => [name, [low]])));
  const { page } = await signInTo(organization, { place: "/domains/unwatched?q=fifty" });
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  await expect.poll(() => rows.count()).toBe(50);
  const known = await rows.allInnerTexts();
  await press(page, "Select all matching (50)");
  await press(page, "Ignore");
  await page.getByText("Ignored 50 addresses.").waitFor();
  await page.getByText("No address matches these filters.").waitFor();
  await page.keyboard.press("z");
  await page.getByText("50 addresses no longer ignored.").waitFor();
  await expect.poll(() => rows.count()).toBe(50);
  expect(await rows.allInnerTexts()).toEqual(known);

  // While another list loads, the page does not know how many match.
  const all = page.getByRole("button", { name: /^Select all matching/ });
  const isAnswered = Promise.withResolvers<void>();
  const list = /\/unwatched\?/;
  const asked = page.waitForRequest(list);
  await page.route(list, (route) => isAnswered.promise.then(() => route.continue()), { times: 1 });
  await page.getByLabel("Search").fill("");
  await asked;
  await all.click();
  await page.getByText("The list is not loaded yet.").waitFor();
  isAnswered.resolve();

  // Above 100 the page asks.
  const countAll = async () => Number(/\d+/.exec(await all.innerText())?.[0]);
  await expect.poll(countAll).toBeGreaterThan(100);
  const total = await countAll();
  await all.click();
  await page.getByRole("button", { name: "Ignore", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Ignore ${total} addresses?` });
  await dialog.getByRole("button", { name: "Ignore" }).click();
  await page.getByText(`Ignored ${total} addresses.`).waitFor();
  await page.getByText("There is nothing to decide.").waitFor();
});
