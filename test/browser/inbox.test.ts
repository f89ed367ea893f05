/** The keyboard alone handles what a second scan found, with one key for each decision. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { scan } from "../service/scan.ts";
import { useChangingService } from "./changing-service.ts";
import { focused, tabTo } from "./keyboard.ts";
import { createUser, isLoaded, signIn, useBrowser } from "./visit.ts";

useBrowser();

const domain = "inbox.example";
const aliases = ["ada", "alan", "grace"];

const breachedIn = (...names: string[]) => Object.fromEntries(aliases.map((alias) => [alias, names]));

const changing = useChangingService(domain, breachedIn("Alpha"), async ({ hibp, organization: { api } }) => {
  await scan(api);
  hibp.catalog.push({ ...inventedBreach("Fresh"), BreachDate: "2026-11-20" });
  for (const alias of aliases) hibp.accounts[`${alias}@${domain}`] = ["Alpha", "Fresh"];
  await scan(api);
});

const open = async (place = "/"): Promise<Page> =>
  (await signIn(await createUser(changing.organization.id, { apiUrl: changing.service.apiUrl }), [], place))
    .page;

/** What the API says of all findings, by their ids, without `lastSeenAt`, which scans move. */
const findings = async (): Promise<unknown[]> =>
  (await changing.organization.api.list("/breaches"))
    .toSorted((one, other) => one.id - other.id)
    .map(({ lastSeenAt: _, ...rest }) => rest);

const acknowledged = async () =>
  (await changing.organization.api.get("/breaches?acknowledged=true")).body.total;

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** By keys from the overview to the first new breach, whose people are listed then. */
const openBreach = async (page: Page): Promise<void> => {
  await page.getByRole("heading", { name: "3 new findings to handle" }).waitFor();
  await press(page, "j", "Enter");
  await page.getByRole("heading", { level: 1, name: "Fresh" }).waitFor();
  await isLoaded(page);
  await page.getByRole("rowheader").first().waitFor();
};

/** Presses z once the page offers what it does. */
const pressUndo = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Undo" }).last().waitFor();
  await press(page, "z");
};

test("e, then z leaves everything as it was, also from another page", async () => {
  const before = await findings();
  const page = await open();
  await openBreach(page);
  await press(page, "j", "e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  expect(await acknowledged()).toBe(1);
  await pressUndo(page);
  await page.getByText("Reopened 1 finding.").waitFor();
  expect(await findings()).toEqual(before);

  await press(page, "X", "e");
  await page.getByText("Acknowledged 3 findings.").waitFor();
  expect(await acknowledged()).toBe(3);
  await tabTo(page, "Overview");
  await press(page, "Enter");
  await page.getByRole("heading", { name: "Nothing new to handle" }).waitFor();
  await pressUndo(page);
  await page.getByText("Reopened 3 findings.").waitFor();
  await page.getByRole("heading", { name: "3 new findings to handle" }).waitFor();
  expect(await findings()).toEqual(before);
});

test("Undo is offered for its whole time, whatever was said shortly before", async () => {
  const page = await open("/findings");
  await page.getByRole("rowheader").first().waitFor();
  await page.clock.install();
  const acknowledgeOne = async (): Promise<void> => {
    await press(page, "e");
    await page.getByText("Acknowledged 1 finding.").waitFor();
  };
  await press(page, "j");
  await acknowledgeOne();
  await pressUndo(page);
  await page.getByText("Reopened 1 finding.").waitFor();
  await page.clock.fastForward(16_000);
  await acknowledgeOne();
  // By now the first Undo would be over.
  await page.clock.fastForward(6_000);
  await pressUndo(page);
  await page.getByText("Reopened 1 finding.").waitFor();
});

/** Holds the reply to the next request that `matches` back, until it is released. */
const hold = async (page: Page, matches: (url: string) => boolean) => {
  const isAsked = Promise.withResolvers<void>();
  const isFree = Promise.withResolvers<void>();
  let isHeld = false;
  await page.route("**/api/**", async (route) => {
    if (isHeld || !matches(route.request().url())) return route.fallback();
    isHeld = true;
    const response = await route.fetch();
    isAsked.resolve();
    await isFree.promise;
    await route.fulfill({ response });
  });
  return { isAsked: isAsked.promise, release: isFree.resolve };
};

test("z waits for an acknowledgement that is under way, and then undoes it", async () => {
  const before = await findings();
  const page = await open("/findings");
  await page.getByRole("rowheader").first().waitFor();
  const isAcknowledging = (url: string) => /\/breaches\/acknowledge(?:ments)?$/.test(url);
  for (const keys of [
    ["j", "e"],
    ["X", "e"],
    ["Enter", "e"],
  ]) {
    const { isAsked, release } = await hold(page, isAcknowledging);
    await press(page, ...keys);
    await isAsked;
    await pressUndo(page);
    await page.getByText("Reopening …").last().waitFor();
    release();
    await page
      .getByText(/^Reopened \d findings?\.$/)
      .last()
      .waitFor();
    expect(await findings()).toEqual(before);
  }
  await press(page, "Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  // Nothing is sent while it is not known yet which findings match.
  const { isAsked, release } = await hold(page, (url) => /limit=1(?:&|$)/.test(url));
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await press(page, "X", "e");
  await isAsked;
  await pressUndo(page);
  release();
  await page.getByText("Nothing was acknowledged.").waitFor();
  expect(sent).toEqual([]);
});

test("of two that are under way z undoes the later one, also where its reply is first", async () => {
  const page = await open("/findings");
  await page.getByRole("rowheader").first().waitFor();
  const { isAsked, release } = await hold(page, (url) => url.endsWith("/breaches/acknowledge"));
  await press(page, "j", "e");
  await isAsked;
  const [one, two] = (await page.getByRole("rowheader").allInnerTexts()).slice(0, 2);
  await press(page, "e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  release();
  await press(page, "z");
  await page.getByText("Reopened 1 finding.").waitFor();
  expect(two).not.toBe(one);
  expect((await changing.organization.api.get("/breaches?acknowledged=true")).body).toMatchObject({
    total: 1,
    breaches: [{ email: one }],
  });
  await changing.organization.api.post("/breaches/reopenings", { filter: { acknowledged: true } });
  await expect.poll(acknowledged).toBe(0);
});

test("keys do nothing in a field, with Ctrl, held down, or under another dialog", async () => {
  const before = await findings();
  const page = await open("/findings");
  await page.getByRole("rowheader").first().waitFor();
  await press(page, "j", "Control+e", "Alt+e");
  await page.keyboard.down("e");
  await page.keyboard.down("e");
  await page.keyboard.up("e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  await press(page, "z");
  await page.getByText("Reopened 1 finding.").waitFor();
  await press(page, "x", "E");
  const dialog = page.getByRole("dialog", { name: "Acknowledge 1 finding" });
  await dialog.getByLabel("Reason").focus();
  await press(page, "e", "z", "Tab", "e", "j");
  expect(await dialog.getByLabel("Reason").inputValue()).toBe("ez");
  await press(page, "Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await findings()).toEqual(before);
});

test("E asks, and Ctrl+Enter sends; j, k, t and e go through findings in the pane", async () => {
  const { api } = changing.organization;
  const page = await open("/findings");
  await page.getByRole("rowheader").first().waitFor();
  await press(page, "j", "Enter");
  const pane = page.getByRole("dialog");
  const titles = (await page.getByRole("rowheader").allInnerTexts()).map((email) => `${email} in`);
  const at = (index: number) =>
    pane
      .getByRole("heading", { name: titles[index] ?? "" })
      .first()
      .waitFor();
  await at(0);
  await press(page, "j", "j");
  await at(2);
  await press(page, "k");
  await at(1);
  expect(await focused(page)).toContain(titles[1]);
  await press(page, "t");
  await page.getByRole("dialog", { name: "Tell the owner?" }).waitFor();
  await press(page, "Escape", "E");
  const dialog = page.getByRole("dialog", { name: "Acknowledge 1 finding" });
  await dialog.getByLabel("Reason").fill("Password changed");
  await press(page, "Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await at(2);
  expect((await api.get("/breaches?acknowledged=true")).body.breaches).toMatchObject([
    { acknowledgeReason: "Password changed", resolution: "handled" },
  ]);
  await press(page, "e");
  await pane.getByText("Acknowledged 1 finding.").waitFor();
  await at(3);
  await press(page, "z");
  await pane.getByText("Reopened 1 finding.").waitFor();
  expect(await acknowledged()).toBe(1);
  await press(page, "Escape");
  await pane.waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe(titles[3]?.replace(" in", ""));
  await api.post("/breaches/reopenings", { filter: { acknowledged: true } });
  await expect.poll(acknowledged).toBe(0);
});

test("a assigns the row to me, on the overview and in the list of breaches", async () => {
  const page = await open();
  await page.getByRole("heading", { name: "3 new findings to handle" }).waitFor();
  const me = /browser-.*@demo\.example/;
  // On a phone a row of news is two lines.
  await page.setViewportSize({ width: 320, height: 844 });
  const heights = await page.evaluate<number[]>(
    `[...document.querySelectorAll(".ranking li")].map((row) => row.getBoundingClientRect().height)`,
  );
  for (const height of heights) expect(height).toBeLessThanOrEqual(60);
  await page.setViewportSize({ width: 1280, height: 800 });
  // Without a row it does nothing.
  await press(page, "a", "j", "a");
  await page.getByText(/^Assigned to .*browser-.*@demo\.example.*\.$/).waitFor();
  await page.getByRole("listitem").filter({ hasText: "Fresh" }).first().getByText(me).waitFor();
  expect(await focused(page)).toBe("Fresh (invented)");
  await press(page, "a");
  await page.getByText("You have this breach in hand already.").waitFor();

  await tabTo(page, "Breaches");
  await press(page, "Enter");
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  await expect.poll(() => rows.filter({ hasText: me }).count()).toBe(1);
  await press(page, "j");
  const other = (await focused(page)) === "Fresh (invented)" ? "j" : "k";
  await press(page, other, "a");
  await expect.poll(() => rows.filter({ hasText: me }).count()).toBe(await rows.count());
});

test("from the overview to an empty inbox, one key a decision", async () => {
  const page = await open();
  await openBreach(page);
  // Each key goes on to the next person.
  await press(page, "j", "e", "e", "e");
  await page.getByText("All 3 handled.").waitFor();
  expect(await acknowledged()).toBe(3);
  await tabTo(page, "Overview");
  await press(page, "Enter");
  await page.getByRole("heading", { name: "Nothing new to handle" }).waitFor();
  await page.getByText("You have handled all 3 new findings of the last 7 days.").waitFor();
});
