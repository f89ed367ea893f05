import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const wanted = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
const path = existsSync(wanted) ? wanted : undefined;

/** What to do about a missing browser; undefined where there is one. */
export const noBrowser =
  path === undefined
    ? "This needs a browser: install Debian's package chromium, or set CHROMIUM_PATH."
    : undefined;

/** What Playwright 1.65 turns off itself; a later switch of the same name would turn these on again. */
const disabledByPlaywright = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/** Pages of the address bar, which Chromium loads for each window: twice the processor time of the window itself. */
const addressBar = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"];

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
      `--disable-features=${[...disabledByPlaywright, ...addressBar, "SpareRendererForSitePerProcess"].join()}`,
    ],
  });
};
