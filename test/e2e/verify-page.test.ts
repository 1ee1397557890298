/** The public page /verify: how it is served, the relay behind it, and its form in a real browser. */
// tier: process
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext } from 'playwright-core';
import { createPaper } from '../../src/pdf/paper.ts';
import { startBrowser } from '../support/clients/browser.ts';
import {
  choose,
  chooseTrust,
  drop,
  give,
  openVerifyPage,
  statuses,
  verdict,
} from '../support/clients/verify-page.ts';
import { type ClockedProof, makeClockedProof } from '../support/fixtures/clocked-proof.ts';
import { findFaults } from '../support/fixtures/dashboard-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { needs } from '../support/programs/needs.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const mostBytes = 60_000;
const inBrowser = needs('chromium');

let clocked: ClockedProof;
let service: Service;
let browser: Browser;
let context: BrowserContext;
const openPage = (viewport?: { width: number; height: number }) =>
  openVerifyPage(context, service.url, viewport);

before(async () => {
  service = await startService({ runLoops: false });
  clocked = await makeClockedProof();
});
inBrowser.before(async () => {
  browser = await startBrowser();
  context = await browser.newContext();
});
after(async () => {
  await browser?.close();
  await service?.close();
});

test('the page is public, and its policy allows no foreign or inline script', async () => {
  for (const path of ['/verify', '/verify/']) {
    const { status, headers, text } = await service.call('GET', path, { key: null });
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|script-src[^;]*https?:/);
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  }
});

test('script and style can be cached forever, since their names change with their content', async () => {
  const { text } = await service.call('GET', '/verify', { key: null });
  const assets = [...text.matchAll(/"(\/verify\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  assert.equal(assets.length, 2);
  for (const path of assets) {
    const { status, headers } = await service.call('GET', path, { key: null });
    assert.equal(status, 200);
    assert.match(headers.get('cache-control') ?? '', /immutable/);
    assert.match(
      headers.get('content-type') ?? '',
      path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/,
    );
  }
  for (const name of ['main.js', '..%2Findex.html', '__proto__']) {
    assertError(await service.call('GET', `/verify/assets/${name}`, { key: null }), 'resource_not_found');
  }
});

test('page, script and style have at most 60 KB, compressed', async () => {
  const { text } = await service.call('GET', '/verify', { key: null });
  const assets = [...text.matchAll(/"(\/verify\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const bodies = await Promise.all(assets.map((path) => service.call('GET', path, { key: null })));
  const sizes = [text, ...bodies.map((body) => body.text)].map((body) => gzipSync(body, { level: 9 }).length);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(all <= mostBytes, `${all} bytes: ${sizes}`);
});

test('the relay returns 503 without a chain, and accepts only its few calls', async () => {
  const ask = (body: unknown) => service.call('POST', '/verify/rpc', { key: null, body });
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
  const away = await ask(call);
  assertError(away, 'service_unavailable');
  assert.ok(away.headers.get('retry-after'));
  for (const wrong of [
    { ...call, method: 'eth_sendRawTransaction', params: ['0x'] },
    { ...call, extra: 1 },
    { ...call, id: 'x' },
    { ...call, params: [1, 2, 3] },
    [call],
    {},
  ]) {
    assertError(await ask(wrong), 'invalid_request');
  }
  assertError(await ask({ ...call, method: 'x'.repeat(5_000) }), 'payload_too_large');
});

test('limits how often the relay answers one address, and the page continues', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
  const ask = () => service.call('POST', '/verify/rpc', { key: null, body });
  let limited: Answer | undefined;
  // 300 in a minute; a minute that has begun before may end amid these, hence as many again.
  for (let asked = 0; asked <= 600 && !limited; asked += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    limited = answers.find(({ status }) => status !== 503);
  }
  assert.ok(limited);
  assertError(limited, 'rate_limit_exceeded');
  assert.ok(limited.headers.get('retry-after'));
  assert.equal((await service.call('GET', '/verify', { key: null })).status, 200);
});

inBrowser.test('files can be dropped together, and each goes where it belongs', async () => {
  const { page } = await openPage();
  const { proof, content, trust } = clocked;
  const [evidence, trusting] = [proof, trust].map((value) => Buffer.from(JSON.stringify(value)));
  assert.ok(evidence && trusting);
  await page.getByText('None').click();
  await drop(page, { 'photo.bin': Buffer.from(content), 'evidence.json': evidence, 'whom.json': trusting });
  await verdict(page, 'pass');
  assert.match((await page.locator('#trust-state').textContent()) ?? '', /whom\.json/);
  assert.match((await page.locator('#proof-state').textContent()) ?? '', /evidence\.json/);
  assert.match((await page.locator('#content-state').textContent()) ?? '', /photo\.bin/);
  await page.close();
});

inBrowser.test('takes the proof attached to a certificate, and treats another PDF as content', async () => {
  const { page } = await openPage();
  const { proof, content } = clocked;
  const certificate = await pdfWith({ 'proof.json': JSON.stringify(proof, null, 2), 'other.txt': 'x' });
  await page.getByText('None').click();
  await choose(page, '#content', 'content', Buffer.from(content));
  await choose(page, '#proof', 'certificate.pdf', certificate);
  await verdict(page, 'incomplete');
  assert.equal((await statuses(page)).digest, 'pass');

  const plain = await pdfWith({ 'proof.json': '{}' });
  await choose(page, '#proof', 'lease.pdf', plain);
  await page.getByText('lease.pdf is a PDF without a readable proof').waitFor();
  await drop(page, { 'lease.pdf': plain, 'evidence.json': Buffer.from(JSON.stringify(proof)) });
  await verdict(page, 'fail');
  assert.match((await page.locator('#content-state').textContent()) ?? '', /lease\.pdf/);
  await page.close();
});

inBrowser.test('explains a file that is not a proof, and a wrong option, in words', async () => {
  const { page } = await openPage();
  await choose(page, '#proof', 'photo.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
  await verdict(page, 'trouble');
  assert.match((await page.getByRole('status').textContent()) ?? '', /photo\.jpg is not a proof/);
  for (const [name, text] of [
    ['notes.json', '{"a": "<img src=x onerror=alert(1)>"}'],
    ['list.json', '[]'],
    ['later.json', '{"format": "holdfast/proof@9"}'],
    ['notes.txt', 'Bring the seal.'],
    ['empty.json', ''],
  ] as const) {
    await choose(page, '#proof', name, Buffer.from(text));
    const status = page.getByRole('status').filter({ hasText: name });
    await status.waitFor();
    assert.match((await status.textContent()) ?? '', /^Not a proof.* is not a proof: /, name);
    assert.equal(await page.locator('[data-step]').count(), 0);
  }
  await page.getByText('My own').click();
  await page.getByLabel('RPC address of your node').fill('http://example.com');
  await page.keyboard.press('Tab');
  await page.getByText('Enter an address that begins with https://').waitFor();
  assert.equal(await page.getByLabel('RPC address of your node').getAttribute('aria-invalid'), 'true');
  await page.close();
});

inBrowser.test('everything is reachable by keyboard, and nothing is wider than a phone', async () => {
  const { page } = await openPage({ width: 360, height: 720 });
  const seen: string[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate('document.activeElement.id || document.activeElement.tagName'));
  }
  assert.deepEqual(seen, ['A', 'A', 'A', 'A', 'proof', 'content', 'INPUT', 'SUMMARY']);
  await page.getByText('None').click();
  await give(page, clocked.proof, 'x');
  await verdict(page, 'fail');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await chooseTrust(page, clocked.trust);
  await give(page, clocked.proof, clocked.content);
  await verdict(page, 'pass');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  assert.deepEqual(await findFaults(page), []);
  await page.close();
});

function pdfWith(files: Record<string, string>): Promise<Buffer> {
  const frame = { head: ['', ''] as [string, string], foot: '', madeAt: new Date(0) };
  const paper = createPaper({ title: 'Test', subject: 'Test', ...frame });
  for (const [name, text] of Object.entries(files)) {
    paper.attach({ name, description: name, mediaType: 'application/json', bytes: Buffer.from(text) });
  }
  const whole = buffer(paper.stream);
  paper.end();
  return whole;
}
