/** A real browser for tests. */
import { type Browser, chromium } from 'playwright-core';
import { pathOf } from '../programs/needs.ts';

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

export function startBrowser(): Promise<Browser> {
  // Containers run as root, where the sandbox is not available; the pages are our own.
  // No page runs long enough for an optimising compilation of its scripts to pay off.
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--js-flags=--no-opt --no-maglev',
    `--disable-features=${turnedOff.join()}`,
  ];
  return chromium.launch({ executablePath: pathOf('chromium'), args, timeout: 60_000 });
}
