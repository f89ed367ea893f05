import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const wanted = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const path = existsSync(wanted) ? wanted : undefined;

const missing =
  "The tests in test/browser need a browser: install Debian's package chromium, or set CHROMIUM_PATH.";
if (path === undefined && process.env.CI === "true") throw new Error(missing);

/** Why the tests of a file are skipped; undefined where there is a browser. */
export const noBrowser = path === undefined ? missing : undefined;

/** Starts the browser. It asks no other host for anything by itself. */
export const startBrowser = (): Promise<Browser> => {
  if (path === undefined) throw new Error(missing);
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
