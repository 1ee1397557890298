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

/** For `{ skip }` of a test: false where there is a browser, else why not. */
export function browserMissing(): string | false {
  return findBrowser() === null && 'there is no Chromium or Chrome on this machine';
}

export function startBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('there is no browser');
  // Root, as which containers run, has no sandbox to offer; the pages are our own.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
  return chromium.launch({ executablePath, args, timeout: 60_000 });
}

function findBrowser(): string | null {
  return [...places, chromium.executablePath()].find((place) => existsSync(place)) ?? null;
}
