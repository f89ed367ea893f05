import { describe, expect, inject, test } from "vitest";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { places } from "./axe.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const withoutRows = ["/", "/settings/organization"];

describe("Tables", () => {
  test("rows are one line of 36 to 40 pixels on every page; head and bar stay in sight", async () => {
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

    await page.setViewportSize({ width: 1280, height: 240 });
    await go(page, "Findings");
    await page.evaluate("scrollTo(0, 130)");
    const bar = await page.getByRole("group", { name: "Selection" }).boundingBox();
    const head = await page.getByRole("columnheader", { name: "Severity" }).boundingBox();
    expect(bar?.y).toBe(0);
    expect(head?.y).toBeCloseTo(bar?.height ?? 0, -1);
  });
});
