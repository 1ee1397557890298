/** Where a browser is: the system's Chromium or Chrome, or one that playwright installed. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { onPath } from './on-path.ts';

/** Names on the PATH. */
export const browserNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const onMac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

export function findBrowser(): string | null {
  const found = onPath(...browserNames);
  if (found !== null) return found;
  if (existsSync(onMac)) return onMac;
  // Loaded only now: it takes longer to load than many a test to run.
  const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');
  return existsSync(chromium.executablePath()) ? chromium.executablePath() : null;
}
