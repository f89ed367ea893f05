import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** The script that checks a page; visits run it before their pages. */
export const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The places whose pages are checked: with data, without, and failing. */
export const places = [
  "/",
  "/findings",
  "/breaches",
  "/emails",
  "/domains",
  "/domains/unwatched",
  "/scans",
  "/alerts",
  "/activity",
  "/settings/api-keys",
  "/settings/members",
  "/settings/teams",
  "/settings/directory",
  "/settings/sessions",
  "/settings/organization",
];

/** The rules whose result can differ between light and dark. */
const ofColors = ["color-contrast", "link-in-text-block"];

/**
 * The violations that axe-core reports, and elements wider than the screen, at 320 and 1280 pixels. Colors
 * are checked in dark, too. `tags`: of the rules to check, by default all.
 */
export const problems = async (page: Page, tags?: readonly string[]): Promise<string[]> => {
  const found: string[] = [];
  const schemes = [
    ["light", tags],
    ["dark", ofColors],
  ] as const;
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (overflow > 0) found.push(`${width} px: ${overflow} px too wide`);
    for (const [colorScheme, runOnly] of schemes) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate<string[]>(
        `axe.run(document, ${JSON.stringify({ runOnly })}).then(({ violations }) =>
           violations.flatMap(({ id, nodes }) =>
             nodes.map(({ target, failureSummary }) => [id, target.join(" "), failureSummary].join(": "))))`,
      );
      found.push(...violations.map((each) => `${width} px, ${colorScheme}: ${each}`));
    }
  }
  return found;
};
