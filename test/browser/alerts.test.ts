import type { Locator } from "playwright-core";
import { expect, inject, test } from "vitest";
import { createChannel, publicUrl } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { type Received, waitForRequests } from "../service/receiver.ts";
import { focused, follow, press } from "./keyboard.ts";
import { go, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const inWords = /^(just now|in (less than a minute|\d+ (minutes?|hours?)))$/;
const exactly = /^\d+ \w+ \d{4}, \d\d:\d\d$/;

test("an edit leaves alone what somebody else has changed meanwhile", async () => {
  const { api, ...organization } = await createOrganization();
  const id = await createChannel(api, { channel: "email", config: { recipients: ["ada@demo.example"] } });
  const { page } = await signInTo(organization, { place: "/alerts" });
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Scan complete").setChecked(true);
  const recipients = ["ada@demo.example", "grace@demo.example"];
  const options = {
    name: "Team",
    minSeverity: "high",
    grouping: "day",
    sensitive: "named",
    tellOwners: true,
  };
  expect((await api.put(`/alert-configs/${id}/options`, options)).status).toBe(200);
  const changed = { config: { recipients }, notifyOnScanError: false };
  expect((await api.patch(`/alert-configs/${id}`, changed)).status).toBe(200);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await api.get("/alert-configs?include=details")).body.configs).toMatchObject([
    { config: { recipients }, notifyOnScanComplete: true, notifyOnScanError: false, options },
  ]);
});

test("the keyboard adds a webhook, disables and enables it, and deletes it", async () => {
  const { api, ...organization } = await createOrganization();
  const { page, watch } = await signInTo(organization);
  await follow(page, "Alerts");
  await page.getByText("Nobody is alerted yet.").waitFor();
  await press(page, "Add channel");
  const dialog = page.getByRole("dialog", { name: "Add channel" });
  await dialog.waitFor();
  const next = async (text: string) => {
    await page.keyboard.press("Tab");
    await page.keyboard.type(text);
  };
  // Letters choose from the list of kinds.
  await page.keyboard.press("w");
  await next("https://10.0.0.1/hook");
  watch.expect("400 /api/v1/alert-configs");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("Destination is not public.", { exact: true }).waitFor();
  expect(await dialog.getByRole("alert").count()).toBe(1);
  expect(await page.evaluate("document.activeElement.name")).toBe("destination");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(`${inject("receiverUrl")}/browser-alerts`);
  await next("Tickets");
  await next("14 characters");
  // The form is submitted before the frame that shows the last character, as by a quick Enter.
  await page.evaluate(
    "{ const it = document.activeElement; it.addEventListener('input', () => " +
      "it.form.requestSubmit(), { once: true }); }",
  );
  await page.keyboard.press("x");
  const tooShort = dialog.getByRole("alert").getByText("Secret must have at least 16 characters.");
  await tooShort.waitFor();
  expect((await api.get("/alert-configs")).body.configs).toEqual([]);
  await press(page, "Generate");
  await tooShort.waitFor({ state: "detached" });
  expect(await dialog.getByLabel("Secret").inputValue()).toMatch(/^[0-9a-f]{64}$/);
  await dialog.getByLabel("Scan complete").check();
  await dialog.getByLabel("Scan errors").uncheck();
  await press(page, "Options");
  await dialog.getByLabel("Least severity").selectOption("High");
  await dialog.getByLabel("Sensitive breaches").selectOption("Not sent");
  await dialog
    .getByLabel("Events of new breaches")
    .selectOption("One for each scan and breach, with details");
  await press(page, "Add channel");
  await dialog.waitFor({ state: "detached" });
  const [{ id }] = await api.list("/alert-configs");
  expect((await api.get(`/alert-configs/${id}/options`)).body).toEqual({
    name: "Tickets",
    minSeverity: "high",
    grouping: "scan",
    sensitive: "discreet",
    tellOwners: false,
    details: true,
  });

  const row = page.getByRole("row").filter({ hasText: "Tickets" });
  await row.getByText("Webhook", { exact: true }).waitFor();
  await row.getByText("New breaches from high on, Scan complete").waitFor();
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

  await press(page, "Disable");
  await row.getByText("Disabled", { exact: true }).waitFor();
  expect(await row.getByRole("button", { name: "Send test" }).isDisabled()).toBe(true);
  await press(page, "Enable");
  await row.getByText("Enabled", { exact: true }).waitFor();

  const asked = page.getByRole("dialog", { name: "Delete the Tickets channel?" });
  await press(page, "Delete");
  await asked.waitFor();
  await press(page, "Cancel");
  await asked.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await asked.waitFor();
  await press(page, "Delete");
  await page.getByText("Nobody is alerted yet.").waitFor();
  expect((await api.get("/alert-configs")).body.configs).toEqual([]);
});

test("the kind of a channel is shown whole beside a name of any length", async () => {
  const { api, ...organization } = await createOrganization();
  const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
  const { body: options } = await api.get(`/alert-configs/${id}/options`);
  await api.put(`/alert-configs/${id}/options`, { ...options, name: "Ticket system ".repeat(7).trim() });
  const { page } = await signInTo(organization, { place: "/alerts" });
  const header = page.getByRole("rowheader", { name: "Webhook" });
  const kind = header.getByText("Webhook", { exact: true });
  const endOf = async (part: Locator) => {
    const { x = 0, width = 0 } = (await part.boundingBox()) ?? {};
    return x + width;
  };
  expect(await endOf(kind)).toBeLessThan(await endOf(header));
});

test("the keyboard sends a test, and the same event again", async () => {
  const { api, ...organization } = await createOrganization();
  const inbox = `${inject("receiverUrl")}/browser-deliveries-${organization.id}`;
  await createChannel(api, { channel: "webhook", config: { url: inbox } });
  const { page } = await signInTo(organization);
  await follow(page, "Alerts");
  await press(page, "Send test");
  await page.getByText("A test is on its way.").waitFor();
  await press(page, "Deliveries");
  await page.getByRole("heading", { name: /^Deliveries: Webhook, http/ }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "Deliver again" });
  await row.getByText("Delivered", { exact: true }).waitFor();
  const [first] = await waitForRequests(inbox, 1);
  await press(page, "Deliver again");
  const [, second] = await waitForRequests(inbox, 2);
  const idOf = (each: Received | undefined) => JSON.parse(String(each?.body)).id;
  expect(idOf(second)).toBe(idOf(first));
  await page.getByRole("cell", { name: "2", exact: true }).waitFor();
  expect(await focused(page)).toBe("Deliver again");
  await press(page, await row.getByRole("rowheader").innerText());
  const details = page.getByRole("dialog");
  await details.getByText(/^HTTP 2\d\d after \d+ ms/).waitFor();
  await details.getByText(`"id":${idOf(first)}`).waitFor();
  await press(page, "Close");
  await details.waitFor({ state: "detached" });
  await go(page, "Alerts");
  await page.getByRole("cell", { name: "just now" }).waitFor();
});

test("a channel that fails says why; the keyboard sends all again once it works", async () => {
  const { api, ...organization } = await createOrganization();
  const inbox = `${inject("receiverUrl")}/browser-failing-${organization.id}`;
  const url = `${inbox}?status=500`;
  const id = await createChannel(api, { channel: "webhook", config: { url } });
  const { page } = await signInTo(organization, { place: "/alerts" });
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

  await page.goto(urlOf(`/alerts?channel=${id}`));
  // An attempt that is under way would refuse another.
  await page.getByText("3 failed").waitFor();
  await api.patch(`/alert-configs/${id}`, { config: { url: inbox } });
  const replay = async () => {
    await press(page, "Replay what failed");
    const since = page.getByRole("dialog", { name: "Replay what failed" }).getByLabel("Since");
    expect(Date.now() - Date.parse(await since.inputValue())).toBeGreaterThan(86_000_000);
    await press(page, "Replay");
  };
  await replay();
  await page.getByText("1 event is on the way again.").waitFor();
  await page.getByRole("row").getByText("Delivered", { exact: true }).waitFor();
  await replay();
  await page.getByText("Nothing has failed since then.").waitFor();
});
