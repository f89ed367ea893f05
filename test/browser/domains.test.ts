import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { records } from "../service/name-records.ts";
import { createOrganization } from "../service/organization.ts";
import { focused, follow, press } from "./keyboard.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("Domains", () => {
  test("a domain is checked until its record is there; DNS that fails changes nothing", async () => {
    const organization = await createOrganization();
    const { page, watch } = await signInTo(organization);
    await go(page, "Domains");
    await page.getByRole("button", { name: "Add domain" }).click();
    const name = page.getByRole("dialog").getByLabel("Name");
    watch.expect("400 /api/dashboard/domains");
    await name.fill("gmail.com");
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .filter({ hasText: /^gmail\.com is a provider of mailboxes/ })
      .waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    await name.fill("https://www.checked.example/");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row").filter({ hasText: "_breach-monitor.checked.example" });
    await row.getByText("Not verified").waitFor();
    const value = (await row.getByText("breach-monitor=").textContent()) ?? "";

    await row.getByRole("button", { name: "Check now" }).click();
    const dialog = page.getByRole("dialog", { name: "Check checked.example" });
    await dialog.getByText("The record is not there yet.").waitFor();
    await dialog.getByText(", and found none.").waitFor();
    records.set("_breach-monitor.checked.example", ["v=spf1 -all", "<b>other</b>"]);
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByText("<b>other</b>").waitFor();
    const { domains } = await admin("domain list", { org: organization.id });
    const added = (domains as { id: number; name: string }[]).find(({ name }) => name === "checked.example");
    watch.expect(`503 /api/dashboard/domains/${added?.id}/check`);
    records.set("_breach-monitor.checked.example", "failure");
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByRole("alert").filter({ hasText: "DNS" }).waitFor();
    records.set("_breach-monitor.checked.example", [value]);
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByText("The record is there: checked.example is verified.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page
      .getByRole("row")
      .filter({ hasText: "checked.example" })
      .getByText("Verified", { exact: true })
      .waitFor();
  });

  test("a domain is shown in both forms, and its record where it stands", async () => {
    const organization = await createOrganization();
    const { page } = await signInTo(organization);
    await go(page, "Domains");
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
    const dialog = page.getByRole("dialog", { name: `Check ${ascii}` });
    await dialog.getByText("The record is at the wrong name").waitFor();
    await dialog.getByText("adds xn--mnchen-3ya.example by itself").waitFor();
    await dialog.getByText("_breach-monitor.mail", { exact: true }).waitFor();
    await dialog.getByText("of another one␣", { exact: true }).waitFor();
    records.set(`_breach-monitor.${ascii}`, [`"${value} "`]);
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByText("is verified.").waitFor();
  });

  test("the keyboard alone checks a domain", async () => {
    const organization = await createOrganization();
    const { page } = await signInTo(organization);
    await follow(page, "Domains");
    await press(page, "Add domain");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("keyboard.example");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row").filter({ hasText: "_breach-monitor.keyboard.example" });
    const value = (await row.getByText("breach-monitor=").textContent()) ?? "";
    await press(page, "Check now", "keyboard.example");
    const dialog = page.getByRole("dialog", { name: "Check keyboard.example" });
    await dialog.getByText("The record is not there yet.").waitFor();
    records.set("_breach-monitor.keyboard.example", [value]);
    await press(page, "Check again");
    await dialog.getByText("The record is there: keyboard.example is verified.").waitFor();
    await press(page, "Close");
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Check now");
  });
});
