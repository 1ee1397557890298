/** A real browser for tests: the system's Chromium or Chrome, or one that playwright installed. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * Browser features that no page needs. Only one such switch takes effect, so the list repeats those that Playwright
 * disables; the two WebUIOmnibox ones draw suggestions below the address bar, in a separate process per window, although
 * nobody sees one.
 */
const turnedOff = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
];

/** For `{ skip }` of a test: false if there is a browser, otherwise why not. */
export function browserMissing(): string | false {
  return findBrowser() === null && 'there is no Chromium or Chrome on this machine';
}

export function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('there is no browser');
  // Containers run as root, where the sandbox is not available; the pages are our own.
  // No page runs long enough for an optimising compilation of its scripts to pay off.
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--js-flags=--no-opt --no-maglev',
    `--disable-features=${turnedOff.join()}`,
  ];
  return chromium.launch({ executablePath, args, timeout: 60_000 });
}

export function findBrowser(): string | null {
  return [...places, chromium.executablePath()].find((place) => existsSync(place)) ?? null;
}
