/** The public page /verify in a real browser, and the relay behind it over HTTP. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { registryAddress } from '../../src/chain/registry/registry.ts';
import { createJsonRpc } from '../../src/chain/rpc/json-rpc.ts';
import { createChainRelay } from '../../src/holdings/verify-page/chain-relay.ts';
import { verifyPageRoutes } from '../../src/holdings/verify-page/verify-page.routes.ts';
import { createPaper } from '../../src/pdf/paper.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { stepNames } from '../../src/proof/steps.ts';
import {
  anchorRecord,
  type DisguisedNode,
  disguise,
  startAnchoringAnvil,
} from '../support/chain/anchored-proof.ts';
import { type Anvil, anvilMissing } from '../support/chain/anvil.ts';
import { browserMissing, startBrowser } from '../support/clients/browser.ts';
import { readVector } from '../support/fixtures/vectors.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const skip = browserMissing();
const chainSkip = skip || (await anvilMissing());
const content = '{"temperature": 4.5}';

let service: Service;
let browser: Browser;
let context: BrowserContext;
let anvil: Anvil;
let anchored: Proof;
let disguised: DisguisedNode;
/** The page with a relay to the real chain. */
let site: FastifyInstance;
let siteUrl: string;
const rpc = createJsonRpc({ timeoutMs: 10_000, maxAnswerBytes: 1_000_000 });

before(async () => {
  service = await startService({ runLoops: false });
  if (skip) return;
  browser = await startBrowser();
  context = await browser.newContext();
  if (chainSkip) return;
  anvil = await startAnchoringAnvil();
  anchored = await anchorRecord(anvil, content);
  disguised = await disguise(anvil.url);
  site = Fastify();
  const call = () => (method: string, params: readonly unknown[]) => rpc.call(anvil.url, method, params);
  verifyPageRoutes(site, { chainRelay: createChainRelay({ call, registry: registryAddress }) });
  siteUrl = await site.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await browser?.close();
  await site?.close();
  disguised?.close();
  await anvil?.stop();
  await rpc.close();
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

test("an anchored proof passes all steps with the visitor's chain node", { skip: chainSkip }, async () => {
  const { page, requests } = await openPage(siteUrl);
  await page.getByText('My own').click();
  await page.getByLabel('RPC address of your node').fill(disguised.url);
  await give(page, anchored, content);
  await verdict(page, 'pass');
  assert.deepEqual(await statuses(page), Object.fromEntries(stepNames.map((name) => [name, 'pass'])));
  assert.match(await told(page, 'pass'), /byte for byte.*It existed on \d{4}-/s);
  assert.equal(await page.locator('[data-statements=skipped]').count(), 0);
  const posted = requests.filter(({ method }) => method === 'POST');
  assert.ok(posted.length > 0);
  assert.ok(posted.every(({ url }) => url.startsWith(disguised.url)));
  assert.doesNotMatch(JSON.stringify(posted), /temperature|rec_1|signature/);
  await page.close();
});

test('a development chain passes all but the time through the relay, even if it is busy at first', {
  skip: chainSkip,
}, async () => {
  const { page, requests } = await openPage(siteUrl);
  let refusals = 0;
  await page.route('**/verify/rpc', (route) => {
    if (refusals >= 2) return route.continue();
    refusals += 1;
    return refusals === 1
      ? route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { message: 'Not now.' } })
      : route.fulfill({ status: 429, contentType: 'text/html', body: '<h1>Too many</h1>' });
  });
  await give(page, anchored, content);
  await verdict(page, 'incomplete');
  const wanted = stepNames.map((name) => [name, name === 'time' ? 'skipped' : 'pass']);
  assert.deepEqual(await statuses(page), Object.fromEntries(wanted));
  assert.match(await told(page, 'pass'), /anchored on the chain/);
  assert.match(await told(page, 'skipped'), /Since when it has existed\. The embedded chain says/);
  assert.ok(requests.every(({ url }) => url.startsWith(siteUrl)));
  await page.close();
});

test('checks what it can offline, and tampering fails its step', { skip }, async () => {
  const { page, requests } = await openPage(service.url);
  const { proof, content, registry } = readVector('file-raw');
  await page.getByText('None').click();
  await page.getByText('More options').click();
  await page.getByLabel('Registry').fill(registry.address);
  await give(page, proof, content);
  await verdict(page, 'incomplete');
  const offline = ['registry', 'chain', 'time', 'finality'];
  const wanted = stepNames.map((name) => [name, offline.includes(name) ? 'skipped' : 'pass']);
  assert.deepEqual(await statuses(page), Object.fromEntries(wanted));
  assert.match(await told(page, 'pass'), /sealed it with its signature/);
  assert.match(await told(page, 'skipped'), /Whether it is anchored/);

  await give(page, proof, `${content}!`);
  await verdict(page, 'fail');
  assert.equal((await statuses(page)).digest, 'fail');
  assert.match(await told(page, 'fail'), /not what this proof is about/);
  proof.seal.sequence += 1;
  await give(page, proof, content);
  await page.locator('[data-step=seal][data-status=fail]').waitFor();
  assert.match((await page.getByRole('status').textContent()) ?? '', /the proof is not valid.*Seal failed/);

  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('Nine steps').waitFor();
  assert.ok(requests.every(({ method }) => method === 'GET'));
  await page.close();
});

test('shows a history with its proofs, and fails one out of order', { skip }, async () => {
  const { page } = await openPage(service.url);
  const [first, second] = ['file-raw', 'second-version'].map((name) => readVector(name).proof);
  const history = (proofs: unknown[]) =>
    Buffer.from(JSON.stringify({ format: 'holdfast/history@1', subject: first?.subject, proofs }));
  await page.getByText('None').click();
  await page.getByText('More options').click();
  await page.getByLabel('Registry').fill(readVector('file-raw').registry.address);
  await page.keyboard.press('Tab');
  await choose(page, '#proof', 'history.json', history([first, second]));
  await verdict(page, 'incomplete');
  await page.locator('[data-step=history][data-status=pass]').waitFor();
  await page.getByText('Proof 2: 4 of 9 steps passed').click();
  assert.equal(await page.locator('details.proof[open] [data-status=pass]').count(), 4);
  await choose(page, '#content', 'second.txt', Buffer.from(readVector('second-version').content));
  await page.getByText('byte for byte, what proof 2 is about').waitFor();
  await choose(page, '#content', 'other.txt', Buffer.from('something else'));
  await page.getByText('this content is not in the history').waitFor();
  await page.getByRole('button', { name: 'Remove the content' }).click();
  await verdict(page, 'incomplete');
  await choose(page, '#proof', 'history.json', history([second, first]));
  await verdict(page, 'fail');
  await page.close();
});

test('files can be dropped together, and each goes where it belongs', { skip }, async () => {
  const { page } = await openPage(service.url);
  const { proof, content } = readVector('file-raw');
  const evidence = Buffer.from(JSON.stringify(proof));
  await page.getByText('None').click();
  await drop(page, { 'photo.bin': Buffer.from(content), 'evidence.json': evidence });
  await page.locator('[data-step=digest][data-status=pass]').waitFor();
  assert.match((await page.locator('#proof-state').textContent()) ?? '', /evidence\.json/);
  assert.match((await page.locator('#content-state').textContent()) ?? '', /photo\.bin/);
  await page.close();
});

test('takes the proof attached to a certificate, and treats another PDF as content', {
  skip,
}, async () => {
  const { page } = await openPage(service.url);
  const { proof, content, registry } = readVector('file-raw');
  const certificate = await pdfWith({ 'proof.json': JSON.stringify(proof, null, 2), 'other.txt': 'x' });
  await page.getByText('None').click();
  await page.getByText('More options').click();
  await page.getByLabel('Registry').fill(registry.address);
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

test('explains a file that is not a proof, and a wrong option, in words', { skip }, async () => {
  const { page } = await openPage(service.url);
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

test('everything is reachable by keyboard, and nothing is wider than a phone', { skip }, async () => {
  const { page } = await openPage(service.url, { width: 360, height: 720 });
  const seen: string[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate('document.activeElement.id || document.activeElement.tagName'));
  }
  assert.deepEqual(seen, ['A', 'A', 'A', 'A', 'proof', 'content', 'INPUT', 'SUMMARY']);
  await page.getByText('None').click();
  await give(page, readVector('file-raw').proof, 'x');
  await verdict(page, 'fail');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
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

interface Seen {
  method: string;
  url: string;
  body: string | null;
}

/** Fails with whatever the page logs as an error: what its own policy refuses, for one. */
async function openPage(
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

async function give(page: Page, proof: Proof, content: string): Promise<void> {
  await choose(page, '#content', 'content', Buffer.from(content));
  await choose(page, '#proof', 'proof.json', Buffer.from(JSON.stringify(proof)));
}

function choose(page: Page, input: string, name: string, buffer: Buffer): Promise<void> {
  return page.setInputFiles(input, { name, mimeType: 'application/octet-stream', buffer });
}

/** On no place in particular. */
function drop(page: Page, files: Record<string, Buffer>): Promise<void> {
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

function verdict(page: Page, wanted: string): Promise<void> {
  return page.locator(`[data-verdict=${wanted}]`).waitFor();
}

async function told(page: Page, status: string): Promise<string> {
  return (await page.locator(`[data-statements=${status}]`).textContent()) ?? '';
}

async function statuses(page: Page): Promise<Record<string, string>> {
  const items = await page.locator('[data-step]').all();
  const pairs = items.map(async (item) => [
    await item.getAttribute('data-step'),
    await item.getAttribute('data-status'),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
}
