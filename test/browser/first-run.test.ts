import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { admin } from "../service/admin.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createKeyClient } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

const step = async (page: Page, index: number, title: string): Promise<void> => {
  await page.reload();
  await page.getByRole("heading", { name: title }).waitFor();
  await page.getByText(`Next step, ${index} of 5`).waitFor();
  expect(await page.getByText(/^Next step/).count()).toBe(1);
};

test("A new organization is led by one next step at a time, and by none that is done", async () => {
  const { id: org } = await admin("org create", { name: "New", "scan-every": "never" });
  const api = await createKeyClient(org);
  const { page } = await signInTo({ id: org }, { place: "/" });
  const { page: other } = await signInTo({ id: org }, { role: "member", place: "/" });
  await step(page, 1, "Add your domain");
  await other.getByText("Ask an admin to do this.").waitFor();
  expect(await page.getByRole("button", { name: "Start scan" }).count()).toBe(0);

  const { id: domainId } = await admin("domain add", { org, name: "demo.example" });
  await step(page, 2, "Prove that the domain is yours");
  await page.getByRole("main").getByRole("link", { name: "Go to Domains" }).click();
  await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
  await go(page, "Overview");

  await admin("domain verify", { org, domain: domainId });
  await step(page, 3, "Add the addresses to watch");
  await addEmail(api, domainId, "ada@demo.example");
  await step(page, 4, "Start the first scan");
  await scan(api);
  await step(page, 5, "Choose where alerts go");
  await page.getByText("Open findings", { exact: true }).waitFor();
  await createChannel(api, { channel: "webhook", config: { url: `${inject("receiverUrl")}/first-run` } });
  await page.reload();
  await page.getByText("Open findings", { exact: true }).waitFor();
  expect(await page.getByText(/^Next step/).count()).toBe(0);
});
