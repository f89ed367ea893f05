/** What fits on a phone. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createScanned, type Scanned } from "../service/scanned.ts";
import { places } from "./axe.ts";
import { isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const widths = [390, 320];
const height = 844;

/** Two lines of text, of 20 and 19 pixels or a button of 25, and the space around them. */
const mostOfRow = 60;

/** Summaries of the activity log are evidence, and never cut. */
const uncut = "/activity";

let organization: Scanned;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  organization = await createScanned(["grace", "ada"]);
  const { id: org, api } = organization;
  await admin("team create", { org, name: "A team with a name that is far too long for its row" });
  await createChannel(api, { channel: "email", config: { recipients: ["security@demo.example"] } });
});

type Shape = { rows: number[]; tooWide: number; nav: number; lines: number; isCurrentSeen: boolean };

const shapeOf = (page: Page): Promise<Shape> =>
  page.evaluate(`(() => {
    const box = (element) => element.getBoundingClientRect();
    const nav = document.querySelector("nav");
    const current = box(nav.querySelector("[aria-current]"));
    return {
      rows: [...document.querySelectorAll("main tbody tr, main .ranking li")].map((row) => box(row).height),
      tooWide: document.documentElement.scrollWidth - innerWidth,
      nav: box(nav).height,
      lines: new Set([...nav.querySelectorAll("a")].map((link) => box(link).top)).size,
      isCurrentSeen: current.left >= 0 && current.right <= innerWidth,
    };
  })()`);

test("rows of lists are two lines, the menu is one, and nothing is too wide", async () => {
  const { page } = await signInTo(organization);
  const [finding] = await organization.api.list("/breaches?limit=1");
  const ofOne = [`/breaches/${finding.breach.id}`, `/emails/${finding.emailId}`];
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    for (const place of [...places, ...ofOne]) {
      await page.goto(urlOf(place));
      await page.locator(".organization").waitFor();
      await isLoaded(page);
      const { rows, nav, ...shape } = await shapeOf(page);
      expect(shape, `${place} ${width}`).toEqual({ tooWide: 0, lines: 1, isCurrentSeen: true });
      expect(nav, `${place} ${width}`).toBeLessThanOrEqual(32);
      if (place === uncut) continue;
      for (const row of rows) expect(row, `${place} ${width}`).toBeLessThanOrEqual(mostOfRow);
    }
  }
});

test("the first person of a breach is on the first screen, what leaked one tap away", async () => {
  const [{ breach }] = await organization.api.list("/breaches?limit=1");
  const { page } = await signInTo(organization, { role: "member" });
  for (const width of widths) {
    await page.setViewportSize({ width, height });
    await page.goto(urlOf(`/breaches/${breach.id}`));
    const first = page.getByRole("table", { name: "findings" }).getByRole("rowheader").first();
    await first.waitFor();
    await isLoaded(page);
    const box = await first.boundingBox();
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThan(height);
    const advice = page.getByRole("heading", { name: "What to do", exact: true });
    expect(await advice.isVisible()).toBe(false);
    await page.getByText("What leaked, and what to do").click();
    await advice.waitFor();
  }
});
