/** What the page /verify shows for proofs of all kinds, in a real browser, with and without a chain node. */
import assert from 'node:assert/strict';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Browser, BrowserContext } from 'playwright-core';
import { registryAddress } from '../../src/chain/registry/registry.ts';
import { createJsonRpc } from '../../src/chain/rpc/json-rpc.ts';
import { createChainRelay } from '../../src/holdings/verify-page/chain-relay.ts';
import { verifyPageRoutes } from '../../src/holdings/verify-page/verify-page.routes.ts';
import type { EvmAnchor, Proof } from '../../src/proof/verify/proof.ts';
import {
  anchorRecord,
  type DisguisedNode,
  disguise,
  startAnchoringAnvil,
  trustIn,
} from '../support/chain/anchored-proof.ts';
import type { Anvil } from '../support/chain/anvil.ts';
import { startBrowser } from '../support/clients/browser.ts';
import {
  choose,
  chooseTrust,
  give,
  openVerifyPage,
  statuses,
  told,
  verdict,
} from '../support/clients/verify-page.ts';
import { type ClockedProof, makeClockedProof, makeRenewedProof } from '../support/fixtures/clocked-proof.ts';
import { findFaults } from '../support/fixtures/dashboard-fixture.ts';
import { fixed, makeProofs, utf8 } from '../support/fixtures/proof-fixture.ts';
import { needs } from '../support/programs/needs.ts';

const { after, before, test } = needs('chromium');
const onChain = needs('chromium', 'anvil');
const content = '{"temperature": 4.5}';

let clocked: ClockedProof;
let browser: Browser;
let context: BrowserContext;
let anvil: Anvil;
let anchored: Proof;
let disguised: DisguisedNode;
/** The page with a relay to the real chain. */
let site: FastifyInstance;
let siteUrl: string;
const rpc = createJsonRpc({ timeoutMs: 10_000, maxAnswerBytes: 1_000_000 });
const openPage = () => openVerifyPage(context, siteUrl);

before(async () => {
  clocked = await makeClockedProof();
  browser = await startBrowser();
  context = await browser.newContext();
  site = Fastify();
  const call = () => (method: string, params: readonly unknown[]) => rpc.call(anvil.url, method, params);
  verifyPageRoutes(site, { chainRelay: createChainRelay({ call, registry: registryAddress }) });
  siteUrl = await site.listen({ host: '127.0.0.1', port: 0 });
});
onChain.before(async () => {
  anvil = await startAnchoringAnvil();
  anchored = await anchorRecord(anvil, content);
  disguised = await disguise(anvil.url);
});
after(async () => {
  await browser?.close();
  await site?.close();
  disguised?.close();
  await anvil?.stop();
  await rpc.close();
});

onChain.test(
  "an anchored proof passes with the visitor's chain node, on a chain that their trust file names",
  async () => {
    const { page, requests } = await openPage();
    await page.getByText('My own').click();
    await page.getByLabel('RPC address of your node').fill(disguised.url);
    await chooseTrust(page, await trustIn(anvil));
    await give(page, anchored, content);
    await verdict(page, 'pass');
    assert.deepEqual(new Set(Object.values(await statuses(page))), new Set(['pass']));
    assert.match(
      await told(page, 'pass'),
      /byte for byte.*It existed on \d{4}-.*, says block \d+ of chain 424242/s,
    );
    assert.equal(await page.locator('[data-statements=skipped]').count(), 0);
    const posted = requests.filter(({ method }) => method === 'POST');
    assert.ok(posted.length > 0);
    assert.ok(posted.every(({ url }) => url.startsWith(disguised.url)));
    assert.doesNotMatch(JSON.stringify(posted), /temperature|rec_1|signature/);
    await page.close();
  },
);

onChain.test(
  'a chain that nobody knows vouches for no time, even if the relay is busy at first',
  async () => {
    const { page, requests } = await openPage();
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
    const { chain, finality, time, ...others } = await statuses(page);
    assert.deepEqual([chain, finality, time], ['pass', 'skipped', 'skipped']);
    assert.deepEqual(new Set(Object.values(others)), new Set(['pass']));
    assert.match(await told(page, 'skipped'), /nobody who is trusted vouches for a time/);
    await page.getByText('This is not a known public chain: its clock counts only if').waitFor();
    assert.ok(requests.every(({ url }) => url.startsWith(siteUrl)));
    await page.close();
  },
);

test('a proof with three clocks passes without a network once the page is open', async () => {
  const { page, requests } = await openPage();
  await page.getByText('None').click();
  const loaded = requests.length;
  await page.context().setOffline(true);
  try {
    await chooseTrust(page, clocked.trust);
    await give(page, clocked.proof, clocked.content);
    await verdict(page, 'pass');
  } finally {
    await page.context().setOffline(false);
  }
  assert.equal(requests.length, loaded);
  const said = (await page.getByRole('status').textContent()) ?? '';
  assert.match(said, /^ProvenThe content existed on 2026-03-02T08:59:30Z, says block 24500000 of Ethereum/);
  const trusted = (await page.locator('.trusted li').allTextContents()).join('\n');
  assert.match(
    trusted,
    /^2026-03-02T08:59:30ZBlock 24500000 of EthereumYour choice: the trust file that you gave/,
  );
  assert.match(
    trusted,
    /\n2026-03-02T09:00:00ZThe timestamp authority CN=Test TSAYour choice: the trust file/,
  );
  assert.match(trusted, /\n2026-03-02T10:00:00ZBitcoin block 939000, give or take 2 hoursYour choice/);
  assert.deepEqual(await page.locator('#steps h3').allTextContents(), [
    ...['The content', 'The batch', 'Block of Ethereum', 'Timestamp authority CN=Test TSA', 'Bitcoin'],
    'The time',
  ]);
  const { fingerprint } = clocked.authority.trusted;
  const root = `The root certificate CN=Test Root, SHA-256 ${fingerprint}, is not part of the trust that ships`;
  await page.getByText(root).waitFor();
  await page.close();
});

test('judges as of another time, and shows renewals with their own clocks', async () => {
  const { page } = await openPage();
  const renewed = await makeRenewedProof();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByText('None').click();
  await chooseTrust(page, renewed.trust);
  await page.getByLabel('Judge as of').fill('2040-01-01');
  await page.keyboard.press('Tab');
  await give(page, renewed.proof, renewed.content);
  await verdict(page, 'pass');
  assert.deepEqual(await findFaults(page, ['color-contrast']), []);
  const titles = await page.locator('#steps h3').allTextContents();
  assert.deepEqual(titles.slice(2), [
    'Timestamp authority CN=Test TSA',
    'Renewal 1',
    'Renewal 1: Timestamp authority CN=Test TSA',
    'The time',
  ]);
  await page.getByText('Its certificate has ended; the timestamp authority').waitFor();
  await page.getByLabel('Judge as of').fill('2020-01-01');
  await page.keyboard.press('Tab');
  await verdict(page, 'incomplete');
  await page.getByLabel('Judge as of').fill('some day');
  await page.keyboard.press('Tab');
  await page.getByText('Enter a date such as').waitFor();
  await verdict(page, 'trouble');
  await page.getByLabel('Judge as of').fill('');
  await choose(page, '#trust', 'wrong.json', Buffer.from('{"format":"holdfast/trust@2"}'));
  await page.getByText('wrong.json cannot be used as a trust file: format is').waitFor();
  await page.getByRole('button', { name: 'Remove the trust file' }).click();
  await verdict(page, 'incomplete');
  await page
    .getByText('If you trust this authority, give its root certificate in a trust file.')
    .first()
    .waitFor();
  await page.close();
});

test('checks what it can without trust and chain, and tampering fails its step', async () => {
  const { page, requests } = await openPage();
  const { content } = clocked;
  const proof = structuredClone(clocked.proof);
  await page.getByText('None').click();
  await choose(page, '#proof', 'proof.json', Buffer.from(JSON.stringify(proof)));
  await verdict(page, 'incomplete');
  assert.match(await told(page, 'skipped'), /is what this proof is about\. No content was given\./);
  await give(page, proof, content);
  await page.locator('[data-statements=pass]').getByText('byte for byte').waitFor();
  const { chain, token, block, time, digest } = await statuses(page);
  assert.deepEqual([chain, token, block, time, digest], [...Array(4).fill('skipped'), 'pass']);
  assert.match(await told(page, 'pass'), /sealed it with its signature/);
  assert.match(await told(page, 'skipped'), /Since when it has existed: nobody/);

  await give(page, proof, `${content}!`);
  await verdict(page, 'fail');
  assert.equal((await statuses(page)).digest, 'fail');
  assert.match(await told(page, 'fail'), /not what this proof is about/);
  proof.seal.sequence = '8';
  await give(page, proof, content);
  await page.locator('[data-step=seal][data-status=fail]').waitFor();
  assert.match((await page.getByRole('status').textContent()) ?? '', /the proof is not valid.*Seal failed/);

  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText('What is checked').waitFor();
  assert.ok(requests.every(({ method }) => method === 'GET'));
  await page.close();
});

test('shows a history with its proofs, and fails one out of order', async () => {
  const { page } = await openPage();
  const thing = { kind: 'file', id: 'fil_1', canonicalization: 'raw', key: fixed(0x11) } as const;
  const place = { chainId: 1, blockNumber: 1, blockTime: 1_700_000_000 };
  const [made] = await makeProofs([{ ...thing, content: utf8('one') }], { ...place, sequence: 1 });
  assert.ok(made);
  const next = { ...thing, content: utf8('two'), version: 2, previousLeaf: made.leaf };
  const [later] = await makeProofs([next], { ...place, sequence: 2, previousSeal: made.sealId });
  assert.ok(later);
  const [first, second] = [made.proof, later.proof];
  const history = (proofs: unknown[]) =>
    Buffer.from(JSON.stringify({ format: 'holdfast/history@1', subject: first.subject, proofs }));
  await page.getByText('None').click();
  await choose(page, '#proof', 'history.json', history([first, second]));
  await verdict(page, 'incomplete');
  await page.locator('[data-step=history][data-status=pass]').waitFor();
  await page.getByText('Proof 2: 6 of 9 steps passed').click();
  assert.equal(await page.locator('details.proof[open] [data-status=pass]').count(), 6);
  await choose(page, '#content', 'second.txt', Buffer.from('two'));
  await page.getByText('byte for byte, what proof 2 is about').waitFor();
  await choose(page, '#content', 'other.txt', Buffer.from('something else'));
  await page.getByText('this content is not in the history').waitFor();
  await page.getByRole('button', { name: 'Remove the content' }).click();
  await verdict(page, 'incomplete');
  const blocks = [first, second].map(({ anchors }) => {
    const { blockNumber: number, blockHash: hash } = anchors[0] as EvmAnchor;
    return { chainId: 1, number, hash };
  });
  await chooseTrust(page, { format: 'holdfast/trust@1', blocks });
  await verdict(page, 'pass');
  assert.match(await told(page, 'pass'), /Somebody who is trusted vouches for the time of each/);
  await choose(page, '#proof', 'history.json', history([second, first]));
  await verdict(page, 'fail');
  await page.close();
});
