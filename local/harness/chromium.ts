import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** Chromium without windows, which takes less processor time, and the whole of it. */
const usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const path = [process.env.CHROMIUM_PATH ?? usual].flat().find(existsSync);

/** What to do about a missing browser; undefined where there is one. */
export const noBrowser =
  path === undefined
    ? "This needs a browser: install Debian's package chromium-headless-shell, or set CHROMIUM_PATH."
    : undefined;

/** It asks no other host for anything by itself. */
const options = () => {
  if (path === undefined) throw new Error(noBrowser);
  return {
    executablePath: path,
    timeout: 120_000,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  };
};

export const startBrowser = (): Promise<Browser> => chromium.launch(options());

/** Starts one with the setting that blocks all cookies, and an empty directory for its profile. */
export const startBlockingCookies = (profile: string): Promise<BrowserContext> => {
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  mkdirSync(join(profile, "Default"));
  writeFileSync(join(profile, "Default/Preferences"), JSON.stringify(preferences));
  return chromium.launchPersistentContext(profile, options());
};
