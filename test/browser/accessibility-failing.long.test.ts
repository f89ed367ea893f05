import { beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { createOrganization } from "../service/organization.ts";
import { axe, places, problems } from "./axe.ts";
import { createUser, hasAllPages, isLoaded, signIn, urlOf, useBrowser, type Visit } from "./visit.ts";

useBrowser();

/** What these places ask for. */
const failing = [
  "/app/icon.svg",
  "/dashboard/overview",
  "/dashboard/findings",
  "/dashboard/emails",
  "/dashboard/breaches",
  "/dashboard/domains",
  "/dashboard/unwatched",
  "/v1/scans",
  "/v1/alert-configs",
  "/v1/activity",
  "/dashboard/api-keys",
  "/dashboard/members",
  "/dashboard/teams",
  "/dashboard/sessions",
  "/dashboard/organization",
];

describe("axe-core finds nothing where nothing answers, light and dark, wide and narrow", () => {
  let visit: Visit;

  beforeAll(async () => {
    if (noBrowser === undefined)
      visit = await signIn(await createUser((await createOrganization()).id), [axe]);
  });

  test.each(places)("%s", async (place) => {
    const { page, watch } = visit;
    await page.goto(urlOf("/activity"));
    await page.locator(".organization").waitFor();
    await isLoaded(page);
    await hasAllPages(page);
    // Without network the page itself cannot be loaded: one goes there as by a link.
    await page.context().setOffline(true);
    watch.expect(...failing.map((path) => `ERR_INTERNET_DISCONNECTED /api${path}`));
    await page.evaluate(`{
      history.pushState(null, "", "${urlOf(place)}?offset=1");
      dispatchEvent(new PopStateEvent("popstate"));
    }`);
    await page.getByRole("alert").filter({ hasText: "Check your connection" }).first().waitFor();
    const found = await problems(page);
    await page.context().setOffline(false);
    expect(found).toEqual([]);
  });
});
