import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startBrowser } from "../local/harness/chromium.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { quantile, round, verdict } from "./measure.ts";
import { type Bench, seededDatabase, startBench } from "./service.ts";

/** Each measurement of time is the median of so many. */
const rounds = 7;

const most = {
  firstVisitKilobytes: 60,
  interactiveMilliseconds: 500,
  callsOfPage: 2,
  overviewTrips: 4,
  overviewReadUnits: 80,
  pageChangeMilliseconds: 100,
  scriptOf100Rows: 16,
  startSeconds: 60,
  clicks: 3,
};

const median = (values: readonly number[]): number => round(quantile(values, 0.5));

/** Notes in the page when it can be used: when its navigation, or its only button, is drawn. */
const noteInteractive = `
  new MutationObserver((_, observer) => {
    if (document.querySelector("nav a, form button") === null) return;
    observer.disconnect();
    window.interactiveAt = performance.now();
  }).observe(document, { childList: true, subtree: true });`;

/** When the page's calls to the service began and ended, in milliseconds after its navigation. */
const callsIn = (page: Page): Promise<{ name: string; begin: number; end: number }[]> =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.includes("/api/dashboard/") || name.includes("/api/v1/"))
      .map(({ name, startTime, duration }) => ({ name, begin: startTime, end: startTime + duration })),
  );

const isLoaded = (page: Page): Promise<void> => page.locator(".loading").waitFor({ state: "detached" });

/** A browser that was never here, signed in by the cookie of a seeded session. */
const signedIn = async (browser: Browser, { service, seeded }: Bench): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(60_000);
  const { origin } = new URL(service.apiUrl);
  await context.addCookies([{ name: "session", value: seeded.session, url: origin, httpOnly: true }]);
  await context.addInitScript(noteInteractive);
  return context;
};

const open = async (page: Page, { service }: Bench, place: string): Promise<void> => {
  await page.goto(`${new URL(service.apiUrl).origin}/api/app${place}`);
  await page.locator("h1").waitFor();
  await isLoaded(page);
};

/** The calls of the first page, each answered a second later than usual, so that it shows whether one waits for another. */
const slowCalls = async (browser: Browser, bench: Bench): ReturnType<typeof callsIn> => {
  const context = await signedIn(browser, bench);
  await context.route(/\/api\/(dashboard|v1)\//, async (route) => {
    await setTimeout(1_000);
    await route.continue();
  });
  const page = await context.newPage();
  await open(page, bench, "/");
  const calls = await callsIn(page);
  await context.close();
  return calls;
};

const measureFirstVisit = async (browser: Browser, bench: Bench): Promise<Cell[][]> => {
  const kilobytes: number[] = [];
  const interactive: number[] = [];
  // The first round starts the functions' processes and is not counted.
  for (let index = 0; index <= rounds; index++) {
    const context = await signedIn(browser, bench);
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    await network.send("Network.enable");
    let bytes = 0;
    network.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await open(page, bench, "/");
    if (index > 0) {
      kilobytes.push(bytes / 1024);
      interactive.push(await page.evaluate("window.interactiveAt"));
    }
    await context.close();
  }
  const calls = await slowCalls(browser, bench);
  const waiting = calls.filter(({ begin }) => calls.some(({ end }) => end <= begin)).length;
  return [
    [
      "First visit, all files and replies",
      `${median(kilobytes)} KB`,
      verdict("KB", median(kilobytes), most.firstVisitKilobytes),
    ],
    [
      "First visit until it can be used",
      `${median(interactive)} ms`,
      verdict("ms", median(interactive), most.interactiveMilliseconds),
    ],
    [
      "Calls of the first page",
      calls.length,
      `${verdict("calls", calls.length, most.callsOfPage)}, ${verdict("waiting for another", waiting, 0)}`,
    ],
  ];
};

const measureOverview = async (bench: Bench): Promise<Cell[]> => {
  const { trips, readUnits } = await bench.measure({ method: "GET", path: "/overview", asUser: true });
  return [
    "GET /overview",
    `${trips} round trips, ${readUnits} read units`,
    [
      verdict("round trips", trips, most.overviewTrips),
      verdict("read", readUnits, most.overviewReadUnits),
    ].join(", "),
  ];
};

/** Follows a link of the navigation, and gives the time at which it does. */
const click = (name: string): string => `(() => {
  const links = [...document.querySelectorAll("nav[aria-label=Main] a")];
  const now = performance.now();
  links.find(({ textContent }) => textContent === ${JSON.stringify(name)}).click();
  return now;
})()`;

/** The time of the first frame in which nothing of the page loads. */
const whenLoaded = `new Promise((resolve) => {
  const look = () =>
    document.querySelector(".loading") === null ? resolve(performance.now()) : requestAnimationFrame(look);
  requestAnimationFrame(look);
})`;

/** Time of a change of page, without that in which a call to the service was under way. */
const changePage = async (page: Page, name: string): Promise<number> => {
  await page.evaluate(() => performance.clearResourceTimings());
  const begin = await page.evaluate<number>(click(name));
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  const end = await page.evaluate<number>(whenLoaded);
  const calls = (await callsIn(page)).sort((one, other) => one.begin - other.begin);
  let [waited, until] = [0, begin];
  for (const call of calls) {
    waited += Math.max(0, call.end - Math.max(call.begin, until));
    until = Math.max(until, call.end);
  }
  return end - begin - waited;
};

const measurePageChanges = async (page: Page): Promise<Cell[]> => {
  const names = ["Findings", "E-mails", "Overview"];
  for (const name of names) await changePage(page, name);
  const times: number[] = [];
  for (let index = 0; index < rounds; index++)
    for (const name of names) times.push(await changePage(page, name));
  return [
    "Change of page, without its calls",
    `${median(times)} ms`,
    verdict("ms", median(times), most.pageChangeMilliseconds),
  ];
};

/** Presses Next, and waits until other rows are there. A script of its own, because that of the test driver would be measured too. */
const turnPage = `new Promise((resolve) => {
  const first = document.querySelector("tbody tr").textContent;
  new MutationObserver((_, observer) => {
    if (document.querySelector("tbody tr").textContent === first) return;
    observer.disconnect();
    resolve();
  }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
  [...document.querySelectorAll("nav[aria-label=Pages] button")].at(-1).click();
})`;

/** Script time of turning a page of 50 rows: of drawing 50 other rows in place of those that go. */
const measureRedraw = async (context: BrowserContext, page: Page): Promise<Cell[]> => {
  const metrics = await context.newCDPSession(page);
  await metrics.send("Performance.enable");
  const script = async (): Promise<number> => {
    const all = (await metrics.send("Performance.getMetrics")).metrics;
    return 1000 * (all.find(({ name }) => name === "ScriptDuration")?.value ?? Number.NaN);
  };
  await changePage(page, "Findings");
  const times: number[] = [];
  for (let index = 0; index <= rounds; index++) {
    const before = await script();
    await page.evaluate(turnPage);
    if (index > 0) times.push((await script()) - before);
  }
  return [
    "Script of a table that draws 50 rows instead of 50 others",
    `${median(times)} ms`,
    verdict("ms", median(times), most.scriptOf100Rows),
  ];
};

/** Reading the list of e-mails without scrolling it: the State filter shows the few that are disabled. */
const measureFilter = async (page: Page): Promise<Cell[]> => {
  await changePage(page, "E-mails");
  const about = page.locator("main").getByText(/^[\d,]+ addresses/);
  const all = await about.innerText();
  await page.evaluate(() => performance.clearResourceTimings());
  await page.getByLabel("State").selectOption({ label: "Disabled" });
  await page.getByText(/^[\d,]+ addresses match$/).waitFor();
  await isLoaded(page);
  const rows = await page.locator("tbody tr").count();
  const calls = (await callsIn(page)).length;
  return [
    `State filter over ${all}`,
    `${await about.innerText()}, ${rows} rows shown`,
    verdict("calls", calls, 1),
  ];
};

const project = join(import.meta.dirname, "..");

/** What a newcomer does after `npm ci`: starts the service, opens the link, signs in, and looks at the findings. */
const measureStart = async (browser: Browser): Promise<Cell[]> => {
  const begin = performance.now();
  const child = spawn(process.execPath, [join(project, "local/start.ts"), "--memory", "--port", "0"], {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const end = (): boolean => child.kill();
  process.once("exit", end);
  try {
    let link: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      link = /http\S+\/sign-in#\S+/.exec(line)?.[0];
      if (link !== undefined) break;
    }
    if (link === undefined) throw new Error("npm start printed no link to the dashboard");
    const printed = performance.now();
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Findings", exact: true }).click();
    await page.locator("tbody tr").first().waitFor();
    const seconds = round((performance.now() - begin) / 1000);
    await page.close();
    return [
      "npm start until findings are seen, in 3 clicks",
      `${seconds} s, of which ${round((printed - begin) / 1000)} s until the link`,
      `${verdict("s", seconds, most.startSeconds)}, ${verdict("clicks", 3, most.clicks)}`,
    ];
  } finally {
    process.off("exit", end);
    child.kill("SIGINT");
    await ended;
  }
};

const run = async ({ progress, sizes }: Context): Promise<Table[]> => {
  const browser = await startBrowser();
  try {
    progress("dashboard: a newcomer's first minute");
    const tables: Table[] = [
      {
        title: "The dashboard for a newcomer",
        columns: ["What", "Measured", "Targets"],
        rows: [await measureStart(browser)],
      },
    ];
    for (const size of sizes) {
      const bench = await startBench(await seededDatabase(size, progress));
      try {
        progress(`dashboard: pages at ${size.toLocaleString("en-US")} findings`);
        const rows: Cell[][] = await measureFirstVisit(browser, bench);
        rows.push(await measureOverview(bench));
        const context = await signedIn(browser, bench);
        const page = await context.newPage();
        await open(page, bench, "/");
        rows.push(
          await measurePageChanges(page),
          await measureRedraw(context, page),
          await measureFilter(page),
        );
        await context.close();
        tables.push({
          title: `The dashboard: ${size.toLocaleString("en-US")} findings`,
          columns: ["What", "Measured", "Targets"],
          rows,
          notes: [
            `Times and kilobytes are medians of ${rounds}. A page turn removes 50 rows and draws 50, which is as much script as drawing 100.`,
          ],
        });
      } finally {
        await bench.close();
      }
    }
    return tables;
  } finally {
    await browser.close();
  }
};

export const dashboard: Arm = {
  name: "dashboard",
  about: "The dashboard in a browser: sizes, times and calls",
  run,
};
