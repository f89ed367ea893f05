/** What extensions and privacy settings do to a page, besides translating it and refusing cookies. */
import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";
import { go, hasAllPages, isLoaded, signInTo, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

describe("an extension", () => {
  test("adds a field of its own: keys that are typed there select nothing", async () => {
    const { page } = await signInTo(await createScanned(), { place: "/findings" });
    await page.evaluate(`{
      const host = document.body.appendChild(document.createElement("div"));
      const field = document.createElement("input");
      host.attachShadow({ mode: "closed" }).append(field);
      field.focus();
    }`);
    await page.keyboard.type("jxe/");
    expect(new URL(page.url()).pathname).toBe("/api/app/findings");
    await page.getByText("None selected").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
  });

  test("puts its elements beside all others: lists, dialogs and typing work", async () => {
    const { api, id } = await createOrganization();
    const { page } = await signInTo({ id });
    await page.context().addInitScript(`
      const mark = () => {
        for (const each of document.querySelectorAll("#app :is(input, select, button, a, td, p, form > div)"))
          if (each.nextElementSibling?.localName !== "x-mark" && each.localName !== "x-mark") {
            each.after(document.createElement("x-mark"));
            each.style.setProperty("--marked", "1");
          }
      };
      addEventListener("DOMContentLoaded", () =>
        new MutationObserver(mark).observe(document.body, { childList: true, subtree: true }),
      );`);
    await page.goto(urlOf("/emails"));
    await isLoaded(page);
    for (const name of ["ada", "grace"]) {
      await page.getByRole("button", { name: "Add e-mail" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Add e-mail" });
      await dialog.getByLabel("E-mail address").pressSequentially(`${name}@demo.example`);
      await dialog.getByLabel("Owner").pressSequentially("Somebody");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    }
    await page.getByRole("searchbox").first().pressSequentially("grace");
    // Each further letter makes another list, which begins with nothing selected.
    await page.waitForURL((url) => url.searchParams.get("q") === "grace");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await page.getByRole("checkbox", { name: "Select grace@demo.example" }).check();
    await page.getByText("1 selected").waitFor();
    await go(page, "Findings");
    await go(page, "E-mails");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(2);
    expect((await api.get("/emails")).body.total).toBe(2);
  });

  test("that blocks a request is named beside the connection", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    watch.expect("ERR_BLOCKED_BY_CLIENT /api/dashboard/findings");
    await page.route("**/api/dashboard/findings?*", (route) => route.abort("blockedbyclient"));
    await page.getByRole("link", { name: "Findings", exact: true }).click();
    await page.getByText("an extension of your browser may be in the way").waitFor();
  });

  test("that makes the page fail leaves no blank page", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    await hasAllPages(page);
    await page.evaluate(`Object.defineProperty(Intl.NumberFormat.prototype, "format", {
      get() { throw new Error("broken"); },
    })`);
    await page.getByRole("navigation").getByRole("link", { name: "Findings" }).click();
    await page.getByRole("heading", { level: 1, name: "The page failed" }).waitFor();
    await expect.poll(() => watch.take().join()).toContain("broken");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { level: 1, name: "Findings" }).waitFor();
  });

  test("that blocks the page's script leaves no blank page", async () => {
    const { page, watch } = await visit();
    const main = /\/assets\/main-\w+\.js$/;
    await page.route(main, (route) => route.abort("blockedbyclient"));
    await page.goto(urlOf("/sign-in"));
    await page.getByText("Breach Monitor does not start. Reload the page.").waitFor();
    await expect
      .poll(() => watch.take())
      .toEqual([expect.stringMatching(/^ERR_BLOCKED_BY_CLIENT .*\/main-/)]);
    await page.unroute(main);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await page.getByText("does not start").count()).toBe(0);
  });
});

test("a clipboard that refuses is told, and the text can be selected", async () => {
  const { id: org } = await createOrganization();
  await admin("domain add", { org, name: "to-prove.example" });
  const { page } = await signInTo({ id: org }, { place: "/domains" });
  await page.evaluate(
    "navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
  );
  await page.getByText("Record to publish").first().click();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByText("Could not copy: select the text instead").first().waitFor();
});

test("no script can make a policy of trusted types", async () => {
  const { page, watch } = await visit();
  await page.goto(urlOf("/sign-in"));
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  for (const act of [
    `trustedTypes.createPolicy("default", { createHTML: (html) => html })`,
    `document.body.innerHTML = "<p>injected</p>"`,
  ])
    expect(await page.evaluate(`try { ${act}; "done" } catch (error) { error.name }`)).toBe("TypeError");
  // Browsers report them later.
  await page.context().close();
  expect(watch.take()).toContain("Content-Security-Policy require-trusted-types-for trusted-types-sink");
});
