import { describe, expect, inject, test } from "vitest";
import { addEmail, numberedAddresses } from "../endpoints/emails.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { places } from "./axe.ts";
import { follow, press } from "./keyboard.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const withoutRows = ["/", "/settings/organization"];

describe("Tables", () => {
  test("rows are one line of 36 to 40 pixels on every page; what is cut is shown", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const team = await admin("team create", {
      org,
      name: "A team with a name that is far too long for its column",
    });
    const ownerName = "Somebody with a name that is far too long for its column";
    await api.post("/emails", { email: "grace@demo.example", domainId, ownerName, teamId: team.id });
    await admin("domain add", { org, name: "to-prove.example" });
    const url = `${inject("receiverUrl")}/tables-${org}?status=500`;
    const channel = await createChannel(api, { channel: "webhook", config: { url } });
    await scan(api);
    const { page } = await signInTo({ id: org });
    const rows = page.locator("tbody tr");
    for (const place of [
      ...places.filter((each) => !withoutRows.includes(each)),
      `/alerts?channel=${channel}`,
    ]) {
      await page.goto(urlOf(place));
      await rows.first().waitFor();
      await isLoaded(page);
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll("tbody tr")].map((row) => Math.round(row.getBoundingClientRect().height))`,
      );
      for (const height of heights) {
        expect(height, place).toBeGreaterThanOrEqual(36);
        expect(height, place).toBeLessThanOrEqual(40);
      }
      // Buttons are whole.
      const cut = await page.evaluate<string[]>(
        `[...document.querySelectorAll("td.actions")].flatMap((cell) => cell.scrollWidth > cell.clientWidth ? [cell.innerText] : [])`,
      );
      expect(cut, place).toEqual([]);
    }
    await go(page, "E-mails");
    const cell = page.getByRole("cell", { name: ownerName });
    await cell.hover();
    expect(await cell.getAttribute("title")).toContain(ownerName);
  });

  test("a list has 50 or 100 rows a page, as the browser keeps it", async () => {
    const { id: org } = await createOrganization();
    await admin("email import", { org, file: await writeAddresses(numberedAddresses(120)) });
    const { page } = await signInTo({ id: org });
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("51–100 of 120").waitFor();
    await page.getByLabel("Rows").selectOption("100");
    await page.getByText("1–100 of 120").waitFor();
    await page.reload();
    await page.getByText("1–100 of 120").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("101–120 of 120").waitFor();
    await page.getByLabel("Rows").selectOption("50");
    await page.getByText("1–50 of 120").waitFor();
  });

  test("the keyboard alone opens a delivery, and replays what failed", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const url = `${inject("receiverUrl")}/tables-keyboard-${org}?status=500`;
    const id = await createChannel(api, { channel: "webhook", config: { url } });
    await addEmail(api, domainId, "ada@demo.example");
    await scan(api);
    await expect
      .poll(async () => (await api.get("/alert-configs?include=details")).body.configs)
      .toMatchObject([{ id, failing: true }]);
    const { page } = await signInTo({ id: org });
    await follow(page, "Alerts");
    await press(page, "Deliveries");
    // An attempt that is under way would refuse another.
    await page.getByText("3 failed").waitFor();
    await press(page, await page.getByRole("rowheader").first().innerText());
    await page
      .getByRole("dialog")
      .getByText(/^HTTP 500 after/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await press(page, "Send test");
    await page.getByText("A test is on its way.").waitFor();
    await page.getByText("3 failed").nth(1).waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Replay what failed" }).getByLabel("Since").waitFor();
    await press(page, "Replay");
    await page.getByText(/on the way again/).waitFor();
  });
});
