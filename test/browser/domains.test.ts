import { expect, test } from "vitest";
import { records } from "../service/name-records.ts";
import { createOrganization } from "../service/organization.ts";
import { focused, follow, press } from "./keyboard.ts";
import { signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("the keyboard adds a domain, checks it until its record is there, and removes one", async () => {
  const organization = await createOrganization();
  const { page, watch } = await signInTo(organization);
  const dialog = page.getByRole("dialog");
  const add = async (name: string) => {
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
  };
  await follow(page, "Domains");
  await press(page, "Add domain");
  await dialog.waitFor();
  watch.expect("400 /api/dashboard/domains");
  await add("gmail.com");
  await dialog
    .getByRole("alert")
    .filter({ hasText: /^gmail\.com is a provider of mailboxes/ })
    .waitFor();
  expect(await page.locator(":focus").getAttribute("aria-invalid")).toBe("true");
  await page.keyboard.press("ControlOrMeta+A");
  await add("https://www.checked.example/");
  const row = page.getByRole("row").filter({ hasText: "_breach-monitor.checked.example" });
  await row.getByText("Not verified").waitFor();
  await row.getByRole("cell", { name: "Nothing", exact: true }).waitFor();
  const value = (await row.getByText("breach-monitor=").textContent()) ?? "";

  await press(page, "Check now", "checked.example");
  const check = page.getByRole("dialog", { name: "Check checked.example" });
  await check.getByText("The record is not there yet.").waitFor();
  await check.getByText(", and found none.").waitFor();
  const checkAgain = async (answer: Parameters<typeof records.set>[1]) => {
    records.set("_breach-monitor.checked.example", answer);
    await press(page, "Check again");
  };
  await checkAgain(["v=spf1 -all", "<b>other</b>"]);
  await check.getByText("<b>other</b>").waitFor();
  await checkAgain([`${value}0`]);
  await check.getByText("with something directly before or behind it").waitFor();
  await checkAgain("failure");
  await check.getByRole("alert").filter({ hasText: "DNS" }).waitFor();
  await checkAgain([value]);
  await check.getByText("The record is there: checked.example is verified.").waitFor();
  await press(page, "Close");
  await dialog.waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Check now");
  await row.getByText("Verified", { exact: true }).waitFor();

  await press(page, "Remove", "checked.example");
  await page.getByRole("dialog", { name: "Remove checked.example?" }).waitFor();
  await press(page, "Remove");
  await row.waitFor({ state: "detached" });
});

test("a domain is shown in both forms, and its record where it stands", async () => {
  const organization = await createOrganization();
  const { page } = await signInTo(organization, { place: "/domains" });
  await page.getByRole("button", { name: "Add domain" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("mail.münchen.example");
  await page.keyboard.press("Enter");
  const ascii = "mail.xn--mnchen-3ya.example";
  const row = page.getByRole("row").filter({ hasText: `mail.münchen.example (${ascii})` });
  const value = (await row.getByText("breach-monitor=").textContent()) ?? "";
  await row.getByText("_breach-monitor", { exact: true }).waitFor();

  records.set(`_breach-monitor.${ascii}`, ["of another one "]);
  records.set(`_breach-monitor.${ascii}.xn--mnchen-3ya.example`, [value]);
  await row.getByRole("button", { name: "Check now" }).click();
  const dialog = page.getByRole("dialog", { name: `Check mail.münchen.example (${ascii})` });
  await dialog.getByText("The record is at the wrong name").waitFor();
  await dialog.getByText("adds xn--mnchen-3ya.example by itself").waitFor();
  await dialog.getByText("_breach-monitor.mail", { exact: true }).waitFor();
  await dialog.getByText("of another one␣", { exact: true }).waitFor();
  records.set(`_breach-monitor.${ascii}`, [`"${value} "`]);
  await dialog.getByRole("button", { name: "Check again" }).click();
  await dialog.getByText("is verified.").waitFor();
});
