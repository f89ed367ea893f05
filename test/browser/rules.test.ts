/** Rules in the page: seen before they are switched on, explained at each finding, and taken back. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { eventually } from "../service/eventually.ts";
import { createScanned } from "../service/scanned.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** Pictures to look at, if somebody wants them. */
const pictures = process.env.RULES_PICTURES;

const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures === undefined) return;
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
};

test("a rule is previewed, switched on, and explained where it ended a finding", async () => {
  const organization = await createScanned(["barbara", "grace"]);
  const { page } = await signInTo(organization, { place: "/settings/rules" });
  const rule = page.getByRole("region", { name: "Low severity" });
  await rule.getByText("Off", { exact: true }).waitFor();
  await picture(page, "rules-off");
  await rule.getByRole("button", { name: "Switch on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It would end 1 now").waitFor();
  await dialog.getByRole("list", { name: "Examples" }).getByText("barbara@demo.example").waitFor();
  await picture(page, "rules-preview");
  await dialog.getByRole("button", { name: "Switch on" }).click();
  await rule.getByText("On", { exact: true }).waitFor();
  await eventually(
    async () => {
      await page.reload();
      await isLoaded(page);
      return rule.getByRole("link", { name: "1 finding is ended by it" }).count();
    },
    (links) => links === 1,
  );
  await picture(page, "rules-on");
  await rule.getByRole("link", { name: "1 finding is ended by it" }).click();
  await page.getByRole("button", { name: "barbara@demo.example" }).click();
  await dialog.getByText("Ended by a rule: Low severity: a list of addresses for spam").waitFor();
  await picture(page, "rules-finding");
  await dialog.getByRole("button", { name: "Close" }).click();
  await picture(page, "rules-list");
  expect(await page.getByLabel("Ended by").inputValue()).toBe("harmless");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("Ended by rules: 1 in the last 7 days").waitFor();
  await picture(page, "rules-overview");
  await page.getByRole("link", { name: "Low severity" }).click();
  await page.getByRole("button", { name: "barbara@demo.example" }).click();
  await dialog.getByRole("button", { name: "Reopen" }).click();
  // The second dialog lies above the first.
  const asking = page.getByRole("dialog", { name: "Reopen 1 finding" });
  await asking.getByRole("button", { name: "Reopen" }).click();
  await eventually(
    async () => (await organization.api.list("/breaches?acknowledged=true")).length,
    (acknowledged) => acknowledged === 0,
  );
});

test("members see rules and previews, and switch none", async () => {
  const organization = await createScanned(["barbara"]);
  const { page } = await signInTo(organization, { place: "/settings/rules", role: "member" });
  await page.getByText("Only admins switch rules.").waitFor();
  await page.getByRole("region", { name: "Low severity" }).getByRole("button", { name: "Preview" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It would end 1 now").waitFor();
  expect(await dialog.getByRole("button", { name: "Switch on" }).count()).toBe(0);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
});
