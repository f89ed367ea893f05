import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { type Answer, type NameServer, startNameServer } from "../alerting/name-server.ts";
import { createOrganization } from "../service/organization.ts";
import { startOwnService } from "../service/own-service.ts";
import { focused, follow, press } from "./keyboard.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** TXT records by name. */
const records = new Map<string, Answer>();
let nameServer: NameServer;
let service: LocalService;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  nameServer = await startNameServer(({ name }) => records.get(name) ?? "no such name");
  service = await startOwnService(["--memory", "--dns", nameServer.address]);
});
afterAll(async () => {
  await service?.stop();
  await nameServer?.close();
});

describe("Domains", () => {
  test("a domain is checked until its record is there; DNS that fails changes nothing", async () => {
    const { apiUrl } = service;
    const organization = await createOrganization({}, { apiUrl });
    const { page, watch } = await signInTo(organization, { apiUrl });
    await go(page, "Domains");
    await page.getByRole("button", { name: "Add domain" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("https://www.checked.example/");
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
    watch.expect(`503 /api/dashboard/domains/2/check`);
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
    expect(nameServer.queries.map(({ name }) => name)).toContain("_breach-monitor.checked.example");
  });

  test("a domain is shown in both forms, and its record where it stands", async () => {
    const { apiUrl } = service;
    const organization = await createOrganization({}, { apiUrl });
    const { page } = await signInTo(organization, { apiUrl });
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
    await dialog.getByText("The record stands at the wrong name").waitFor();
    await dialog.getByText("adds xn--mnchen-3ya.example by itself").waitFor();
    await dialog.getByText("_breach-monitor.mail", { exact: true }).waitFor();
    await dialog.getByText("of another one␣", { exact: true }).waitFor();
    records.set(`_breach-monitor.${ascii}`, [`"${value} "`]);
    await dialog.getByRole("button", { name: "Check again" }).click();
    await dialog.getByText("is verified.").waitFor();
  });

  test("the keyboard alone checks a domain", async () => {
    const { apiUrl } = service;
    const organization = await createOrganization({}, { apiUrl });
    const { page } = await signInTo(organization, { apiUrl });
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
