import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Chromium without windows, which takes less processor time, and the whole of it. */
const usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const path = [process.env.CHROMIUM_PATH ?? usual].flat().find(existsSync);

/** What to do about a missing browser; undefined where there is one. */
export const noBrowser =
  path === undefined
    ? "This needs a browser: install Debian's package chromium-headless-shell, or set CHROMIUM_PATH."
    : undefined;

/** Starts the browser. It asks no other host for anything by itself. */
export const startBrowser = (): Promise<Browser> => {
  if (path === undefined) throw new Error(noBrowser);
  return chromium.launch({
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
  });
};
