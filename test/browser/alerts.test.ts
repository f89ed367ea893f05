import { describe, expect, inject, test } from "vitest";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { type Received, waitForRequests } from "../service/receiver.ts";
import { go, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const inWords = /^in (less than a minute|\d+ (minutes?|hours?))$/;
const exactly = /^\d+ \w+ \d{4}, \d\d:\d\d$/;

describe("Alerts", () => {
  test("what the service refuses about the destination stands at that field", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    await go(page, "Alerts");
    await page.getByRole("button", { name: "Add channel" }).click();
    const dialog = page.getByRole("dialog", { name: "Add channel" });
    await dialog.getByLabel("Kind").selectOption("Webhook");
    await dialog.getByLabel("Destination").fill("https://10.0.0.1/hook");
    watch.expect("400 /api/v1/alert-configs");
    await dialog.getByRole("button", { name: "Add channel" }).click();
    await dialog.getByRole("alert").getByText("Destination is not public.", { exact: true }).waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(1);
    const focused = await page.evaluate("document.activeElement.name");
    expect(focused).toBe("destination");
  });

  test("a webhook is added, disabled, enabled, and deleted once that is confirmed", async () => {
    const { api, ...organization } = await createOrganization();
    const { page } = await signInTo(organization);
    await go(page, "Alerts");
    await page.getByText("Nobody is alerted yet.").waitFor();
    await page.getByRole("button", { name: "Add channel" }).click();
    const dialog = page.getByRole("dialog", { name: "Add channel" });
    await dialog.getByLabel("Kind").selectOption("Webhook");
    await dialog.getByLabel("Destination").fill(`${inject("receiverUrl")}/browser-alerts`);
    const secret = dialog.getByLabel("Secret");
    await secret.pressSequentially("15 characters x");
    await dialog.getByRole("button", { name: "Add channel" }).click();
    const tooShort = dialog.getByRole("alert").getByText("Secret must have at least 16 characters.");
    await tooShort.waitFor();
    expect((await api.get("/alert-configs")).body.configs).toEqual([]);
    await dialog.getByRole("button", { name: "Generate" }).click();
    await tooShort.waitFor({ state: "detached" });
    expect(await dialog.getByLabel("Secret").inputValue()).toMatch(/^[0-9a-f]{64}$/);
    await dialog.getByLabel("Scan complete").check();
    await dialog.getByLabel("Scan errors").uncheck();
    await dialog.getByLabel("Name").fill("Tickets");
    await dialog.getByText("Options").click();
    await dialog.getByLabel("Least severity").selectOption("High");
    await dialog.getByLabel("Sensitive breaches").selectOption("Not sent");
    await dialog.getByRole("button", { name: "Add channel" }).click();
    await dialog.waitFor({ state: "detached" });
    const [{ id }] = (await api.get("/alert-configs")).body.configs as [{ id: number }];
    expect((await api.get(`/alert-configs/${id}/options`)).body).toEqual({
      name: "Tickets",
      minSeverity: "high",
      grouping: "address",
      sensitive: "discreet",
      tellOwners: false,
    });

    const row = page.getByRole("row").filter({ hasText: "Tickets" });
    await row.getByTitle("Webhook").waitFor();
    await row.getByText("New breaches, Scan complete").waitFor();
    expect(await page.content()).not.toContain("browser-alerts");
    expect((await api.get("/alert-configs")).body.configs).toMatchObject([
      {
        channel: "webhook",
        isEnabled: true,
        config: { hasSecret: true },
        notifyOnNewBreach: true,
        notifyOnScanComplete: true,
        notifyOnScanError: false,
      },
    ]);

    await row.getByRole("button", { name: "Disable" }).click();
    await row.getByText("Disabled", { exact: true }).waitFor();
    expect(await row.getByRole("button", { name: "Send test" }).isDisabled()).toBe(true);
    await row.getByRole("button", { name: "Enable" }).click();
    await row.getByText("Enabled", { exact: true }).waitFor();

    await row.getByRole("button", { name: "Delete" }).click();
    const asked = page.getByRole("dialog", { name: "Delete the Tickets channel?" });
    await asked.getByRole("button", { name: "Cancel" }).click();
    await asked.waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Delete" }).click();
    await asked.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Nobody is alerted yet.").waitFor();
    expect((await api.get("/alert-configs")).body.configs).toEqual([]);
  });

  test("a test is sent and delivered; delivering again sends the same event", async () => {
    const { api, ...organization } = await createOrganization();
    const inbox = `${inject("receiverUrl")}/browser-deliveries-${organization.id}`;
    await createChannel(api, { channel: "webhook", config: { url: inbox } });
    const { page } = await signInTo(organization);
    await go(page, "Alerts");
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("A test is on its way.").waitFor();
    await page.getByRole("button", { name: "Deliveries" }).click();
    await page.getByRole("heading", { name: /^Deliveries: Webhook, http/ }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "Deliver again" });
    await row.getByText("Delivered", { exact: true }).waitFor();
    const [first] = await waitForRequests(inbox, 1);
    await row.getByRole("button", { name: "Deliver again" }).click();
    const [, second] = await waitForRequests(inbox, 2);
    const idOf = (each: Received | undefined) => JSON.parse(String(each?.body)).id;
    expect(idOf(second)).toBe(idOf(first));
    await page.getByRole("cell", { name: "2", exact: true }).waitFor();
    await row.getByRole("rowheader").getByRole("button").click();
    const details = page.getByRole("dialog");
    await details.getByText(/^HTTP 2\d\d after \d+ ms/).waitFor();
    await details.getByText(`"id":${idOf(first)}`).waitFor();
    await details.getByRole("button", { name: "Close" }).click();
    await go(page, "Alerts");
    await page.getByRole("cell", { name: "just now" }).waitFor();
  });

  test("what failed since yesterday is sent again once the receiver works", async () => {
    const { api, ...organization } = await createOrganization();
    const inbox = `${inject("receiverUrl")}/browser-replay-${organization.id}`;
    const url = `${inbox}?status=500`;
    const id = await createChannel(api, { channel: "webhook", config: { url } });
    const { page } = await signInTo(organization);
    await page.goto(urlOf(`/alerts?channel=${id}`));
    for (const index of [0, 1, 2]) {
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByRole("cell", { name: "HTTP 500" }).nth(index).waitFor();
    }
    // An attempt that is under way would refuse another.
    await page.getByText("3 failed").nth(2).waitFor();
    await api.patch(`/alert-configs/${id}`, { config: { url: inbox } });
    await page.getByRole("button", { name: "Replay what failed" }).click();
    const dialog = page.getByRole("dialog", { name: "Replay what failed" });
    expect(Date.now() - Date.parse(await dialog.getByLabel("Since").inputValue())).toBeGreaterThan(
      86_000_000,
    );
    await dialog.getByRole("button", { name: "Replay" }).click();
    await page.getByText(/events? (is|are) on the way again/).waitFor();
    await page.getByText("Delivered", { exact: true }).nth(2).waitFor();
    await page.getByRole("button", { name: "Replay what failed" }).click();
    await dialog.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Nothing has failed since then.").waitFor();
  });

  test("a channel that fails says why and since when; Overview leads to it", async () => {
    const { api, ...organization } = await createOrganization();
    const url = `${inject("receiverUrl")}/browser-failing-${organization.id}?status=500`;
    await createChannel(api, { channel: "webhook", config: { url } });
    const { page } = await signInTo(organization);
    await go(page, "Alerts");
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("A test is on its way.").waitFor();
    await page.getByRole("button", { name: "Deliveries" }).click();
    const row = page.getByRole("row").filter({ hasText: "HTTP 500; another attempt" });
    await row.getByText("Retrying", { exact: true }).waitFor();
    const next = row.locator("td[data-name='Next attempt'] time");
    expect(await next.innerText()).toMatch(inWords);
    expect(await next.getAttribute("title")).toMatch(exactly);
    await page.getByLabel("State").selectOption("Not delivered");
    await page.getByText("No delivery is in this state.").waitFor();
    await go(page, "Overview");
    await page.getByText(/^Alerts by webhook have failed since \d+ \w+ \d{4}, \d\d:\d\d\./).waitFor();
    await page.getByRole("link", { name: "See why" }).click();
    await row.waitFor();
    await go(page, "Alerts");
    const since = page.getByText(/^Failing for (a moment|\d+ (minutes?|hours?))$/).locator("time");
    expect(await since.getAttribute("title")).toMatch(/^since \d+ \w+ \d{4}, \d\d:\d\d$/);
  });
});
