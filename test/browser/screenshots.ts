/**
 * `npm run screenshots`: starts the service as `npm start` does, and goes from its link to the first
 * acknowledged finding. Prints how long each step took, and takes the pictures of docs/dashboard.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { noBrowser, startBrowser } from "../../local/harness/chromium.ts";
import { attachDevice } from "./authenticator.ts";

const project = join(import.meta.dirname, "../..");
const directory = join(project, "docs/screenshots");

/**
 * `follow`: a link to the page that is the picture. `unfold`: the details to open on it. `open`: the button
 * whose dialog it is; the dialog gets `file`.
 */
type Picture = {
  name: string;
  place: string;
  colorScheme?: "dark";
  width?: number;
  follow?: string;
  unfold?: string;
  open?: string;
  file?: string;
};

const people = [
  "email,name,department,phone",
  "ada@demo.example,Ada Lovelace,Research,1",
  "hedy@demo.example,Hedy Lamarr,Research,2",
  "grace@demo.example,Grace Hopper,Finance,3",
  "hedy@demo.example,Hedy Lamarr,Research,4",
  "joan@subsidiary.example,Joan Clarke,Research,5",
  "not known,Ida Rhodes,,6",
].join("\n");

const pictures: readonly Picture[] = [
  { name: "overview", place: "/" },
  { name: "overview-dark", place: "/", colorScheme: "dark" },
  { name: "overview-narrow", place: "/", width: 320 },
  { name: "findings", place: "/findings" },
  { name: "findings-dark", place: "/findings", colorScheme: "dark" },
  { name: "findings-narrow", place: "/findings", width: 320 },
  { name: "finding", place: "/findings", open: "grace@demo.example" },
  { name: "breaches", place: "/breaches" },
  { name: "breach", place: "/breaches", follow: "Example Payroll (invented)" },
  { name: "emails", place: "/emails" },
  { name: "import", place: "/emails", open: "Import", file: people },
  { name: "person", place: "/emails?q=grace", follow: "grace@demo.example" },
  { name: "domains", place: "/domains", unfold: "Record to publish" },
  { name: "unwatched", place: "/domains/unwatched" },
  { name: "scans", place: "/scans" },
  { name: "alerts", place: "/alerts" },
  { name: "deliveries", place: "/alerts?channel=2" },
  { name: "activity", place: "/activity" },
  { name: "directory", place: "/settings/directory" },
  { name: "rules", place: "/settings/rules" },
  { name: "members", place: "/settings/members" },
  { name: "sessions", place: "/settings/sessions" },
  { name: "organization", place: "/settings/organization", colorScheme: "dark" },
];

const startedAt = performance.now();
const clicks: string[] = [];

const note = (step: string): void => {
  clicks.push(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${step}`);
};

/**
 * Starts the local service with its demo organization; resolves to the sign-in link that it prints, at a
 * name, where browsers have passkeys.
 */
const startService = async (): Promise<{ service: ChildProcess; link: string }> => {
  // The page has a button for the provider, which nobody presses.
  const provider = ["--oidc-issuer", "http://127.0.0.1:9", "--oidc-client-id", "pictures"];
  const args = [join(project, "local/start.ts"), "--memory", "--port", "0", ...provider];
  const service = spawn(process.execPath, args, {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, OIDC_CLIENT_SECRET: "none" },
  });
  for await (const line of createInterface({ input: service.stdout as NonNullable<typeof service.stdout> })) {
    const [link] = /http\S+\/sign-in#\S+/.exec(line) ?? [];
    if (link !== undefined) return { service, link: link.replace("127.0.0.1", "localhost") };
  }
  throw new Error("The local service ended before it printed a sign-in link.");
};

const acknowledgeFirst = async (page: Page, link: string): Promise<void> => {
  await page.goto(link);
  const signIn = page.getByRole("button", { name: "Sign in" });
  await signIn.waitFor();
  note("click 1, the link: the page asks to sign in");
  await signIn.click();
  await page.getByRole("heading", { name: "Breaches with the most open findings" }).waitFor();
  note("click 2, Sign in: Overview with its numbers");
  await page.getByRole("banner").getByRole("link", { name: "Findings" }).click();
  const boxes = page.getByRole("rowgroup").getByRole("checkbox");
  await boxes.nth(1).waitFor();
  note("click 3, Findings: the list");
  await boxes.nth(1).check();
  note("click 4, the checkbox of a finding");
  await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await page.getByText("Acknowledged 1 finding.").waitFor();
  note("click 5, Acknowledge: the finding is acknowledged");
};

/** The page of somebody who is not signed in. Opening a link changes nothing. */
const takeSignIn = async (browser: Browser, name: string, url: string, button: string, width = 640) => {
  const page = await browser.newPage({ locale: "en-US", viewport: { width, height: 640 } });
  await page.goto(url);
  await page.getByRole("button", { name: button, exact: true }).waitFor();
  await page.screenshot({ path: join(directory, `${name}.png`) });
  await page.close();
};

const addPasskey = async (page: Page): Promise<void> => {
  await attachDevice(page);
  await page.goto(new URL("/api/app/settings/sessions", page.url()).href);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("The passkey was added.").waitFor();
};

/** Fills the pages that the demo organization leaves empty, as a user would. */
const fill = async (page: Page): Promise<void> => {
  const post = (path: string, body?: object) =>
    page.evaluate(
      `fetch("/api${path}", { method: "POST", body: ${JSON.stringify(JSON.stringify(body))},
         headers: { "Content-Type": "application/json" } })
         .then((reply) => { if (!reply.ok) throw new Error("${path}: " + reply.status); })`,
    );
  await post("/dashboard/domains", { name: "subsidiary.example" });
  await post("/dashboard/members", { email: "ada@demo.example", name: "Ada Lovelace", role: "member" });
};

const take = async (
  page: Page,
  { name, place, colorScheme = "light" as "dark", width = 1280, follow, unfold, open, file }: Picture,
) => {
  await page.setViewportSize({ width, height: width === 320 ? 720 : 800 });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.goto(new URL(`/api/app${place}`, page.url()).href);
  await page.locator(".organization").waitFor();
  await page.locator(".loading").waitFor({ state: "detached" });
  if (follow !== undefined) {
    await page.getByRole("main").getByRole("link", { name: follow }).first().click();
    await page.getByRole("heading", { level: 1, name: follow }).waitFor();
    await page.locator(".loading").waitFor({ state: "detached" });
  }
  if (unfold !== undefined) await page.getByText(unfold).click();
  const path = join(directory, `${name}.png`);
  if (open === undefined) {
    await page.screenshot({ path });
  } else {
    await page.getByRole("button", { name: open }).first().click();
    const dialog = page.getByRole("dialog");
    if (file !== undefined) {
      const buffer = Buffer.from(file);
      await dialog.getByLabel("File").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
      await dialog.getByText("Teams that will be created").waitFor();
    }
    await dialog.screenshot({ path });
  }
  console.log(`${name}.png ${Math.ceil((await stat(path)).size / 1024)} KB`);
};

if (noBrowser !== undefined) {
  console.error(noBrowser);
  process.exit(1);
}
const { service, link } = await startService();
note("npm start has printed the link");
const browser = await startBrowser();
try {
  await mkdir(directory, { recursive: true });
  await takeSignIn(browser, "sign-in-link", link, "Sign in");
  await takeSignIn(browser, "sign-in", link.replace(/sign-in#.*/, ""), "Sign in with a passkey");
  const page = await browser.newPage({ locale: "en-US", timezoneId: "UTC" });
  await acknowledgeFirst(page, link);
  console.log(clicks.join("\n"));
  await fill(page);
  await addPasskey(page);
  for (const picture of pictures) await take(page, picture);
} finally {
  await browser.close();
  service.kill("SIGINT");
}
