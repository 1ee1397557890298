/** The page /verify in a browser: opened, given files, and read. */
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright-core';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import type { TrustDocument } from '../fixtures/clocked-proof.ts';

export interface Seen {
  method: string;
  url: string;
  body: string | null;
}

/** Fails with whatever the page logs as an error: what its own policy refuses, for one. */
export async function openVerifyPage(
  context: BrowserContext,
  url: string,
  viewport = { width: 1000, height: 800 },
): Promise<{ page: Page; requests: Seen[] }> {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  const requests: Seen[] = [];
  page.setDefaultTimeout(30_000);
  page.on('request', (request) => {
    requests.push({ method: request.method(), url: request.url(), body: request.postData() });
  });
  page.on('pageerror', (error) => assert.fail(error));
  page.on('console', (message) => {
    assert.doesNotMatch(message.text(), /Content Security Policy/);
  });
  await page.goto(`${url}/verify`);
  return { page, requests };
}

export async function give(page: Page, proof: Proof, content: string): Promise<void> {
  await choose(page, '#content', 'content', Buffer.from(content));
  await choose(page, '#proof', 'proof.json', Buffer.from(JSON.stringify(proof)));
}

/** Opens the options, where it is. */
export async function chooseTrust(page: Page, trust: TrustDocument): Promise<void> {
  await page.evaluate("document.querySelector('#options').open = true");
  await choose(page, '#trust', 'trust.json', Buffer.from(JSON.stringify(trust)));
}

export function choose(page: Page, input: string, name: string, buffer: Buffer): Promise<void> {
  return page.setInputFiles(input, { name, mimeType: 'application/octet-stream', buffer });
}

/** On no place in particular. */
export function drop(page: Page, files: Record<string, Buffer>): Promise<void> {
  const packed = Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')]);
  return page.evaluate(`
    const data = new DataTransfer();
    for (const [name, packed] of ${JSON.stringify(packed)}) {
      data.items.add(new File([Uint8Array.from(atob(packed), (char) => char.charCodeAt(0))], name));
    }
    const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector('main').dispatchEvent(drop);
  `);
}

export function verdict(page: Page, wanted: string): Promise<void> {
  return page.locator(`[data-verdict=${wanted}]`).waitFor();
}

export async function told(page: Page, status: string): Promise<string> {
  return (await page.locator(`[data-statements=${status}]`).textContent()) ?? '';
}

export async function statuses(page: Page): Promise<Record<string, string>> {
  const items = await page.locator('[data-step]').all();
  const pairs = items.map(async (item) => [
    await item.getAttribute('data-step'),
    await item.getAttribute('data-status'),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
}
