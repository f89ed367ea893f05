import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { type LocalService, startService } from "../../local/harness/service.ts";
import { synthesize } from "../../local/synthesis.ts";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { createUser, signIn, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

let service: LocalService;
beforeAll(async () => {
  if (noBrowser !== undefined) return;
  const assembly = join(mkdtempSync(join(tmpdir(), "without-sender-")), "cdk.out");
  await synthesize(assembly, {}, AbortSignal.timeout(120_000));
  service = await startService(["--memory"], {}, assembly);
}, 240_000);
afterAll(() => service?.stop());

describe("where no sender of e-mail is set up", () => {
  test("the sign-in page points at the operator, and asking for a link is accepted", async () => {
    const visitor = createClient({}, new URL("/api/dashboard", service.apiUrl).href);
    expect(await visitor.get("/sign-in")).toMatchObject({ status: 200, body: { mail: false } });
    const asked = await visitor.post("/sign-in/links", { email: "somebody@demo.example" });
    expect(asked).toMatchObject({ status: 202, body: { success: true } });
    const { page } = await visit([], service.apiUrl);
    await page.goto(urlOf("/sign-in", service.apiUrl));
    await page.getByText("This service cannot send e-mail. Ask its operator for a sign-in link").waitFor();
    expect(await page.getByRole("button", { name: "Send sign-in link" }).count()).toBe(0);
  });

  test("an invited member is there at once, and the page says that no e-mail was sent", async () => {
    const { apiUrl } = service;
    const { id: org } = await createOrganization({}, { apiUrl });
    const { page } = await signIn(await createUser(org, { apiUrl }));
    await page.goto(urlOf("/settings/members", apiUrl));
    await page.getByRole("button", { name: "Invite" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("E-mail address").fill("grace@demo.example");
    const replied = page.waitForResponse((response) => response.request().method() === "POST");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const reply = await replied;
    expect(reply.status()).toBe(201);
    expect(await reply.json()).toMatchObject({ email: "grace@demo.example", invitationSent: false });
    await page.getByText("No e-mail can be sent: ask the operator for a sign-in link.").waitFor();
    await page.getByRole("rowheader", { name: "grace@demo.example" }).waitFor();
  });
});
