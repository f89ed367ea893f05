import type { Page } from "playwright-core";
import { isLoaded } from "./visit.ts";

export const focused = async (page: Page): Promise<string> =>
  ((await page.locator(":focus").textContent()) ?? "").trim();

/**
 * Presses Tab until the element with this text has the focus; of several, the one with this description, or with none.
 */
export const tabTo = async (page: Page, text: string, about?: string | null): Promise<void> => {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const [focus, description] = await page.evaluate<[string, string | null]>(
      `[document.activeElement.textContent.trim(), document.activeElement.getAttribute("aria-description")]`,
    );
    if (focus === text && (about === undefined || description === about)) return;
  }
  throw new Error(`Tab does not reach ${text}`);
};

export const press = async (page: Page, text: string, about?: string | null): Promise<void> => {
  await tabTo(page, text, about);
  await page.keyboard.press("Enter");
};

export const follow = async (page: Page, name: string): Promise<void> => {
  await press(page, name);
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await isLoaded(page);
};
