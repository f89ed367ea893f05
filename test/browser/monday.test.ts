/** What a security team does on a Monday, counted in clicks, keys and seconds. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createBreaches } from "../service/breaches.ts";
import { eventually } from "../service/eventually.ts";
import { readLocalStack } from "../service/local-stack.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { startOwnService } from "../service/own-service.ts";
import { scan } from "../service/scan.ts";
import { createUser, go, isLoaded, linkFor, signIn, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

const domain = "monday.example";
const people = 212;
const breach = "PayrollPro (invented)";

let service: LocalService;
let organization: Organization;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  const addresses = Array.from({ length: people }, (_, index) => `person-${index}@${domain}`);
  const accounts = Object.fromEntries(addresses.map((address) => [address, ["PayrollPro"]]));
  accounts[`grace@${domain}`] = ["Forum"];
  const catalog = [inventedBreach("PayrollPro"), inventedBreach("Forum")];
  const { directory } = await createBreaches(accounts, catalog);
  service = await startOwnService(["--memory", "--breaches", directory]);
  const { apiUrl } = service;
  organization = await createOrganization({}, { domain, apiUrl });
  const { id: org, api, domainId } = organization;
  await admin("email import", { org, file: await writeAddresses(addresses) }, apiUrl);
  await api.post("/emails", { email: `grace@${domain}`, domainId, ownerName: "Grace Hopper" });
  await scan(api, 120);
});
afterAll(() => service?.stop());

const signInHere = async () => signIn(await createUser(organization.id, { apiUrl: service.apiUrl }));

describe("Monday", () => {
  test("212 people are told; their findings are acknowledged, reopened, acknowledged", async () => {
    const { api } = organization;
    const { page } = await signInHere();
    await go(page, "Overview");
    await page.getByRole("heading", { name: `${people + 1} new findings in 7 days` }).waitFor();
    const startedAt = performance.now();
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks += 1;
      await target.click();
    };
    const unacknowledged = async () => (await api.get("/breaches")).body.unacknowledged;
    const acknowledgeAll = async (reason: string) => {
      await click(page.getByRole("button", { name: "Acknowledge all" }));
      const dialog = page.getByRole("dialog", { name: `Acknowledge ${people} findings` });
      await dialog.getByText(`${people} open findings of ${breach}, on every page.`).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type(reason);
      await click(dialog.getByRole("button", { name: "Acknowledge" }));
      await page.getByText(`All ${people} handled.`).waitFor();
      expect(await unacknowledged()).toBe(1);
    };

    await click(page.getByRole("main").getByRole("link", { name: breach }).first());
    await page.getByText("Secrets that open accounts leaked").waitFor();
    await click(page.getByRole("button", { name: "Tell all owners" }));
    const asked = page.getByRole("dialog", { name: "Tell the owners?" });
    await asked.getByText(`${people} people get an e-mail at the breached address.`).waitFor();
    await click(asked.getByRole("button", { name: "Tell the owners" }));
    await page.getByText(`${people} e-mails are on the way.`).waitFor();
    const { dataDirectory } = await readLocalStack(service.apiUrl);
    await eventually(
      async () =>
        (await readdir(join(dataDirectory, "outbox"))).filter((name) => name.endsWith(".eml")).length,
      (mails) => mails > 0,
    );
    await acknowledgeAll("Everybody was told");
    await click(page.getByRole("button", { name: "Undo" }));
    await page.getByText(`Reopened ${people} findings.`).waitFor();
    expect(await unacknowledged()).toBe(people + 1);
    await acknowledgeAll("Passwords are changed");
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject(Array(50).fill({ acknowledgeReason: "Passwords are changed" }));

    console.log(`${clicks} clicks, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    expect(clicks).toBeLessThanOrEqual(10);
  });

  // Something else may take the machine's time.
  test("a slash, a name and Enter open a person within a second", { retry: 3 }, async () => {
    const { page } = await signInHere();
    const find = async (from: string): Promise<number> => {
      await go(page, from);
      const startedAt = performance.now();
      await page.keyboard.press("/");
      await page.keyboard.type("hopper");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: `grace@${domain}` }).waitFor();
      await page.getByRole("link", { name: "Forum (invented)" }).waitFor();
      return performance.now() - startedAt;
    };
    const milliseconds = [];
    for (const from of ["Overview", "Findings", "E-mails"]) milliseconds.push(Math.round(await find(from)));
    console.log(`${milliseconds.join(", ")} ms`);
    expect(Math.min(...milliseconds)).toBeLessThanOrEqual(1000);
  });

  test("of several that are found, Enter goes to the first, and again opens it", async () => {
    const { page } = await signInHere();
    for (const key of ["/", "p", "e", "r", "s", "o", "n", "-", "2", "0", "Enter"])
      await page.keyboard.press(key);
    const first = page.getByRole("rowheader").first().getByRole("link");
    await expect.poll(() => first.evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
    const address = String(await first.getAttribute("title"));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: address }).waitFor();
  });

  test("a page of 100 rows is drawn once, by at most 16 ms of script", async () => {
    const { page } = await signInHere();
    await page.evaluate(`localStorage.setItem("page-size", "100")`);
    await page.goto(urlOf("/findings?acknowledged=any", service.apiUrl));
    await page.getByText(`1–100 of ${people + 1}`).waitFor();
    /** Turns the page. Resolves to how many times of rows were drawn, and to the milliseconds between the answer and its rows. */
    const turn = (name: string): Promise<{ drawn: number; milliseconds: number }> =>
      page.evaluate(`new Promise((resolve) => {
        const { parse } = Date;
        const { json } = Response.prototype;
        let drawn = 0;
        let answeredAt;
        Date.parse = (text) => {
          drawn += 1;
          return parse(text);
        };
        Response.prototype.json = async function () {
          const answer = await json.call(this);
          answeredAt = performance.now();
          return answer;
        };
        new MutationObserver((_, observer) => {
          const milliseconds = performance.now() - answeredAt;
          observer.disconnect();
          Date.parse = parse;
          Response.prototype.json = json;
          resolve({ drawn, milliseconds });
        }).observe(document.querySelector("table"), { childList: true });
        [...document.querySelectorAll(".pager button")].find(({ textContent }) => textContent === "${name}").click();
      })`);
    const turns: Awaited<ReturnType<typeof turn>>[] = [];
    const fastest = () => Math.min(...turns.map((each) => each.milliseconds));
    // Other work on the machine slows turns down. A busy machine needs more of them until one is undisturbed.
    for (let times = 0; times < 20 || (times < 120 && fastest() > 16); times += 1)
      for (const name of ["Next", "Previous"]) turns.push(await turn(name));
    // One more is the header Date. Every 20 seconds the clock of the page draws all rows again.
    const drawnAgain = turns.filter(({ drawn }) => drawn !== 101);
    expect(drawnAgain.length).toBeLessThanOrEqual(turns.length / 8);
    const milliseconds = turns.map((each) => each.milliseconds).sort((one, other) => one - other);
    console.log(`${milliseconds.map(Math.round).join(", ")} ms`);
    expect(fastest()).toBeLessThanOrEqual(16);
  });

  test("another page is there within 100 ms", async () => {
    const { page } = await signInHere();
    /** Follows a link of the navigation. Resolves to the milliseconds until the page is drawn. */
    const follow = (name: string): Promise<number> =>
      page.evaluate(`new Promise((resolve) => {
        const startedAt = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector("h1")?.textContent !== "${name}") return;
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
        }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
        [...document.querySelectorAll("nav a")].find(({ textContent }) => textContent === "${name}").click();
      })`);
    const fastest = new Map<string, number>();
    for (let times = 0; times < 5; times += 1) {
      for (const name of ["Overview", "Findings", "Breaches", "E-mails", "Alerts", "Settings"]) {
        fastest.set(name, Math.min(await follow(name), fastest.get(name) ?? Number.POSITIVE_INFINITY));
        await isLoaded(page);
      }
    }
    console.log(
      [...fastest].map(([name, milliseconds]) => `${name} ${Math.round(milliseconds)} ms`).join(", "),
    );
    expect(Math.max(...fastest.values())).toBeLessThanOrEqual(100);
  });

  test("a link to a finding, a person or a breach works for whoever signs in first", async () => {
    const { api } = organization;
    const [finding] = (await api.get("/breaches?limit=1")).body.breaches as {
      id: number;
      email: string;
      emailId: number;
      breach: { id: number; title: string };
    }[];
    if (finding === undefined) throw new Error("There is no finding");
    const { id, email, emailId, breach } = finding;
    const colleague = await createUser(organization.id, { role: "member", apiUrl: service.apiUrl });
    const open = async (place: string): Promise<Page> => {
      const { page, watch } = await visit([], service.apiUrl);
      // Whichever request is answered first tells that nobody is signed in.
      watch.expect(`401 /api/dashboard${place}`, "401 /api/dashboard/findings");
      await page.goto(urlOf(place, service.apiUrl));
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      await page.goto(await linkFor(colleague));
      await page.getByRole("button", { name: "Sign in" }).click();
      return page;
    };
    for (const [place, title] of [
      [`/findings/${id}`, `${email} in ${breach.title}`],
      [`/emails/${emailId}`, email],
      [`/breaches/${breach.id}`, breach.title],
    ] as const)
      await (await open(place)).getByRole("heading", { level: 1, name: title }).waitFor();
  });
});
