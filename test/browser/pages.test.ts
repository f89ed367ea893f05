import { expect, inject, test } from "vitest";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { places } from "./axe.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const withoutRows = ["/", "/settings/directory", "/settings/organization"];

test("a page opened directly asks the service twice at most; a row is one line of text", async () => {
  const { id: org, api, domainId } = await createOrganization();
  const name = "A team with a name that is far too long for its column";
  const { id: teamId } = await admin("team create", { org, name });
  const ownerName = "Somebody with a name that is far too long for its column";
  const email = { email: "grace@demo.example", domainId, ownerName, teamId };
  const { id: emailId } = (await api.post("/emails", email)).body;
  await admin("domain add", { org, name: "to-prove.example" });
  const url = `${inject("receiverUrl")}/pages-${org}`;
  const [working, failing] = [
    await createChannel(api, { channel: "webhook", config: { url } }),
    await createChannel(api, { channel: "webhook", config: { url: `${url}?status=500` } }),
  ];
  await scan(api);
  const [finding] = await api.list("/breaches?limit=1");
  const { page } = await signInTo({ id: org });
  const breach = `/breaches/${finding.breach.id}`;
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    // What the page before asked until now is not this page's.
    if (request.isNavigationRequest()) asked.length = 0;
    if (pathname.startsWith("/api/") && !pathname.startsWith("/api/app")) asked.push(pathname);
  });
  const open = async (place: string, text?: string): Promise<void> => {
    await page.goto(urlOf(place));
    await page.locator(".organization").waitFor();
    await isLoaded(page);
    if (text !== undefined) await page.getByText(text).waitFor();
    // A breach with addresses that nobody watches has a second list.
    const most = place.startsWith(breach) ? 3 : 2;
    expect(asked.length, `${place}: ${asked}`).toBeLessThanOrEqual(most);
  };
  const expectOneLine = async (place: string): Promise<void> => {
    await page.locator("tbody tr").first().waitFor();
    // 1024: a screen of 1280 pixels at 125 %. 900: rows are blocks.
    for (const width of [900, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll("tbody tr")].map((row) => Math.round(row.getBoundingClientRect().height))`,
      );
      for (const height of width === 900 ? [] : heights) {
        expect(height, `${place} ${width}`).toBeGreaterThanOrEqual(36);
        expect(height, `${place} ${width}`).toBeLessThanOrEqual(40);
      }
      // Buttons are whole, and in sight without scrolling.
      const cut = await page.evaluate<string[]>(
        `[...document.querySelectorAll("td.actions, .table-box")].flatMap((each) => ` +
          "each.scrollWidth > each.clientWidth ? [each.innerText] : [])",
      );
      expect(cut, `${place} ${width}`).toEqual([]);
    }
  };

  const one = `/findings/${finding.id}`;
  const ofOne = [breach, one, `/emails/${emailId}`, `/alerts?channel=${working}`];
  for (const place of [...places, ...ofOne]) {
    await open(place);
    if (![...withoutRows, one].includes(place)) await expectOneLine(place);
  }
  // This one asks again and again, as long as attempts are made.
  const deliveries = `/alerts?channel=${failing}`;
  await page.goto(urlOf(deliveries));
  await expectOneLine(deliveries);

  await api.post("/breaches/acknowledge", { id: finding.id });
  await open(breach, "The only one is handled.");
  await open(`${breach}?acknowledged=true`, "Handled");
  await open("/findings?severity=low&domainId=999999999", "No finding matches these filters.");
  await open("/breaches/999999999", "Nobody here is in this breach.");

  await go(page, "E-mails");
  const cell = page.getByRole("cell", { name: ownerName });
  await cell.hover();
  expect(await cell.getAttribute("title")).toContain(ownerName);
  // Head and bar stay in sight.
  await page.setViewportSize({ width: 1280, height: 240 });
  await go(page, "Findings");
  await page.evaluate("scrollTo(0, 130)");
  const bar = await page.getByRole("group", { name: "Selection" }).boundingBox();
  const head = await page.getByRole("columnheader", { name: "Severity" }).boundingBox();
  expect(bar?.y).toBe(0);
  expect(head?.y).toBeCloseTo(bar?.height ?? 0, -1);
});
