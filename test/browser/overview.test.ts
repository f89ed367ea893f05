/** The overview of a team whose first scan brought history, and whose second one brought a new breach. */
import { expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { scan } from "../service/scan.ts";
import { useChangingService } from "./changing-service.ts";
import { createUser, go, signIn, useBrowser } from "./visit.ts";

useBrowser();

const domain = "monday.example";
const aliases = ["ada", "grace", "alan"];

const changing = useChangingService(
  domain,
  Object.fromEntries(aliases.map((alias) => [alias, ["Alpha", "Beta"]])),
  async ({ organization }) => void (await scan(organization.api)),
);

test("history is no news; a new breach comes first, and handling it empties the inbox", async () => {
  const {
    service,
    organization: { id: org, api },
  } = changing;
  const { page } = await signIn(await createUser(org, { apiUrl: service.apiUrl }), [], "/");
  await page.getByRole("heading", { name: "Nothing new to handle" }).waitFor();
  await page.getByText("6 findings in 2 breaches from before the first check").waitFor();

  const { hibp } = changing;
  hibp.catalog.push({ ...inventedBreach("Fresh"), BreachDate: "2026-11-20" });
  for (const alias of aliases) hibp.accounts[`${alias}@${domain}`] = ["Alpha", "Beta", "Fresh"];
  await scan(api);
  await page.reload();
  const inbox = page.locator("section", {
    has: page.getByRole("heading", { name: "3 new findings to handle" }),
  });
  await inbox.getByText("3 people").first().waitFor();
  expect(await inbox.getByRole("listitem").first().innerText()).toMatch(/Fresh.*2026/s);

  await inbox.getByRole("link", { name: /Fresh/ }).click();
  await page.getByRole("button", { name: "Acknowledge all" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await page.getByText("All 3 handled.").waitFor();
  await go(page, "Overview");
  await page.getByText("You have handled all 3 new findings of the last 7 days.").waitFor();
});

test("a channel whose message waits is named, with until when", async () => {
  const {
    service,
    organization: { id: org, api },
  } = changing;
  const channel = await createChannel(api, {
    channel: "email",
    config: { recipients: [`security@${domain}`] },
  });
  await admin("org mail-budget", { org, hour: 0, day: 0 }, service.apiUrl);
  await admin("channel test", { org, channel }, service.apiUrl);
  const { page } = await signIn(await createUser(org, { apiUrl: service.apiUrl }), [], "/");
  const waiting = page.getByText(/^Alerts by e-mail wait until .* 00:00: budget of e-mails is used up\./);
  await eventually(
    async () => {
      await page.reload();
      await page.getByText("from before the first check").waitFor();
      return waiting.isVisible();
    },
    (isVisible) => isVisible,
  );
  await waiting.getByRole("link", { name: "See which" }).click();
  await page.getByText("budget of e-mails is used up").first().waitFor();
});
