/** The pure part of sign-offs: a frozen signature, the rules one by one, and that browsers can run all of it. */
// own process: the bundler keeps a process of its own
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { privateKeyToAccount } from 'viem/accounts';
import { keySignatureFault } from '../../proof/signoff/signed-with.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import { signoffDigest, signoffMessage, signoffTypedData } from '../../proof/signoff/signoff-message.ts';
import { type Licence, licenceFault, licenceKey, wholeLicence } from './licence.ts';
import { verifySignoff } from './signoff.ts';
import { fitsScope, judgeSignoff, type Signing } from './signoff-rules.ts';
import { typedDataToSign } from './typed-data.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const document: SignoffDocument = {
  format: 'holdfast/signoff@2',
  workspaceId: 'ws_01M7EFHM3E618NAA3TJ9KBWPMT',
  assetId: 'pump é/7',
  maintenanceId: 'mnt_01M7EFHM3E618NAA3TJ9KBWPMT',
  maintenanceHash: `0x${'ab'.repeat(32)}`,
  role: 'certified',
  workerAddress: account.address,
  workerName: 'Ada Lund',
  licence: {
    ...{ category: 'B1.1', scope: 'engine', number: 'DK.66.1', authority: 'EASA', validFrom: null },
    ...{ expiresAt: '2027-01-01T00:00:00.000Z', suspendedAt: null },
  },
  signedAt: '2026-11-15T12:00:00.000Z',
  signedWith: { method: 'held-key', apiKeyId: 'key_1' },
  release: {
    organisation: {
      ...{ name: 'Nordjet', address: 'Hangar 4', authority: 'EASA', approvalNumber: 'DK.145.0042' },
      regulation: 'Part-145',
    },
    asset: { version: 3, name: 'Pump', partNumber: 'P-7', serialNumber: '0417' },
  },
  // Made with viem's signTypedData; with RFC 6979 it is always the same.
  signature:
    '0xaabc8caa2b12737ad15c64f91a020db10d49cd733967ede87fe68082130fd011129796e1170eae5de45f5dd21a9065ebaa26c44dcf54a23d0f4421251a713a091b',
};

test('a frozen sign-off verifies, so that every later version can check old signatures', async () => {
  const typedData = typedDataToSign(signoffTypedData(document));
  assert.equal(await account.signTypedData(typedData), document.signature);
  assert.deepEqual(await verifySignoff(document, document), []);
});

test('the verifier runs in browsers, without Node.js', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'signoff.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
  });
  const text = outputFiles[0]?.text ?? '';
  const bundled = await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
  assert.deepEqual(await bundled.verifySignoff(document, document), []);
  assert.notDeepEqual(await bundled.verifySignoff({ ...document, role: 'performed' }, document), []);
});

test('a change of any member or of any byte of the signature does not verify', async () => {
  const message = signoffMessage(document);
  const leaves: (string | number)[][] = [];
  const collect = (value: unknown, path: (string | number)[]) => {
    if (typeof value !== 'object' || value === null) leaves.push(path);
    else for (const [name, inner] of Object.entries(value)) collect(inner, [...path, name]);
  };
  collect(message, []);
  assert.equal(leaves.length, 27);
  for (const path of leaves) {
    type Node = Record<string | number, unknown>;
    const changed = structuredClone(message);
    const [last = '', ...above] = path.toReversed();
    const parent = above.reduceRight<unknown>((node, name) => (node as Node)[name], changed) as Node;
    const value = parent[last];
    parent[last] = typeof value === 'number' ? value + 1 : other(String(value));
    const digest = signoffDigest(changed);
    assert.notEqual(keySignatureFault(account.address, digest, document.signature), null, path.join('.'));
  }
  const digest = signoffDigest(message);
  for (let at = 2; at < document.signature.length; at += 2) {
    const byte = Number.parseInt(document.signature.slice(at, at + 2), 16) ^ 1;
    const changed =
      document.signature.slice(0, at) + byte.toString(16).padStart(2, '0') + document.signature.slice(at + 2);
    assert.notEqual(keySignatureFault(account.address, digest, changed), null, `byte ${at / 2 - 1}`);
  }
});

const other = (value: string) =>
  value.startsWith('0x') ? value.replace(/.$/, (digit) => (digit === '1' ? '2' : '1')) : `${value}x`;

test('reports a malformed document instead of throwing', async () => {
  const changes = [
    { signedAt: 'yesterday' },
    { signedAt: '1969-12-31T23:59:59Z' },
    { signature: '0x' },
    { workerAddress: '0x12' },
    { maintenanceHash: '0x12' },
    { format: 'holdfast/signoff@1' },
    { format: 'holdfast/signoff@3' },
    { licence: null },
    { signedWith: null },
    { release: null },
  ];
  for (const change of changes) {
    const changed = { ...document, ...change } as SignoffDocument;
    assert.notDeepEqual(await verifySignoff(changed, changed), [], JSON.stringify(change));
  }
});

const at = Date.parse('2026-11-15T12:00:00Z');
const licence = (scope: string, number: string, more: Partial<Licence> = {}) =>
  wholeLicence({ scope, number, authority: 'EASA', expiresAt: null, ...more });
const signing: Signing = {
  role: 'certified',
  workerAddress: '0xb',
  licences: [licence('repair', 'B')],
  at,
  requires: { scope: 'repair', categories: [], critical: false },
  identity: 'wrk_b',
  earlier: [{ role: 'performed', workerAddress: '0xa', identities: ['wrk_a'] }],
  performers: [{ address: '0xa', identities: ['wrk_a'], licences: ['easa/a1'], inherited: false }],
};

test('a licence begins, ends and is suspended at the exact moment', () => {
  const time = (ms: number) => new Date(at + ms).toISOString();
  const fault = (more: Partial<Licence>) => licenceFault(licence('repair', 'B', more), at)?.code ?? null;
  assert.equal(fault({}), null);
  assert.equal(fault({ expiresAt: time(1) }), null);
  assert.equal(fault({ expiresAt: time(0) }), 'licence_expired');
  assert.equal(fault({ suspendedAt: time(1) }), null);
  assert.equal(fault({ suspendedAt: time(0) }), 'licence_suspended');
  assert.equal(fault({ validFrom: time(0) }), null);
  assert.equal(fault({ validFrom: time(1) }), 'licence_not_yet_valid');
});

const judge = (change: Partial<Signing>) => {
  const judged = judgeSignoff({ ...signing, ...change });
  return 'code' in judged ? judged.code : judged.licence?.number;
};

test('the licence has the scope and one of the categories that the work needs, and counts now', () => {
  const past = new Date(at - 1).toISOString();
  const held = licence('repair', 'B', { category: 'b1.1' });
  const requires = { scope: 'repair', categories: ['B1.1', 'C'], critical: false };
  assert.equal(judge({ requires, licences: [held] }), 'B');
  assert.equal(
    judge({ requires: { ...requires, categories: ['C'] }, licences: [held] }),
    'licence_out_of_scope',
  );
  assert.equal(judge({ requires, licences: [licence('repair', 'B')] }), 'licence_out_of_scope');
  assert.equal(judge({ licences: [licence('paint', 'B')] }), 'licence_out_of_scope');
  assert.equal(judge({ licences: [] }), 'licence_required');
  assert.equal(judge({ licences: [licence('repair', 'B', { expiresAt: past })] }), 'licence_expired');
  assert.equal(judge({ licences: [licence('repair', 'B', { suspendedAt: past })] }), 'licence_suspended');
  const other = licence('*', 'D');
  assert.equal(judge({ licences: [licence('repair', 'B', { expiresAt: past }), other] }), 'D');
});

test('a limit that is no time is in force: what nobody can read does not last for ever', async () => {
  const fault = (more: Partial<Licence>) => licenceFault(licence('repair', 'B', more), at)?.code ?? null;
  for (const time of [
    '31.12.2020',
    '2036-02-30T00:00:00.000Z',
    '2036-06-30T24:00:00.000Z',
    '2036-06-30',
    '',
  ]) {
    assert.equal(fault({ expiresAt: time }), 'licence_expired', time);
    assert.equal(fault({ suspendedAt: time }), 'licence_suspended', time);
    assert.equal(fault({ validFrom: time }), 'licence_not_yet_valid', time);
  }
  const used = document.licence ?? assert.fail();
  const unsigned = { ...document, licence: { ...used, expiresAt: '31.12.2020' } };
  const signature = await account.signTypedData(typedDataToSign(signoffTypedData(unsigned)));
  const signed = { ...unsigned, signature };
  assert.deepEqual(await verifySignoff(signed, signed), ['licence.expiresAt is not a time in UTC']);
});

test('critical work is inspected by somebody who does not certify it', () => {
  const requires = { scope: 'repair', categories: [], critical: true };
  const inspected = (
    workerAddress: string,
    more: Partial<Signing['earlier'][number]> = {},
  ): Partial<Signing> => ({
    requires,
    earlier: [...signing.earlier, { role: 'inspected', workerAddress, identities: ['wrk_c'], ...more }],
  });
  assert.equal(judge({ requires }), 'inspection_required');
  assert.equal(judge(inspected('0xc')), 'B');
  assert.equal(judge(inspected('0xB')), 'inspector_not_independent');
  assert.equal(judge(inspected('0xc', { identities: ['wrk_b'] })), 'inspector_not_independent');
  assert.equal(judge(inspected('0xc', { licence: licence('*', 'b') })), 'inspector_not_independent');
  assert.equal(
    judge({ ...inspected('0xB'), role: 'inspected', workerAddress: '0xd', identity: 'wrk_d' }),
    'B',
  );
});

test('a scope fits if it is the same or wider, but not if it only starts alike', () => {
  for (const [held, needed] of [
    ['engine', 'engine'],
    [' Engine ', 'ENGINE'],
    ['engine', 'engine/borescope'],
    ['*', 'anything'],
  ] as const) {
    assert.equal(fitsScope(held, needed), true, `${held} for ${needed}`);
  }
  for (const [held, needed] of [
    ['engine', 'engines'],
    ['engine/borescope', 'engine'],
    ['eng*', 'engine'],
    ['', 'engine'],
  ] as const) {
    assert.equal(fitsScope(held, needed), false, `${held} for ${needed}`);
  }
});

test('a licence is the same however its issuer and number are written', () => {
  const key = licenceKey({ authority: 'EASA', number: 'AT.66.777' });
  for (const [authority, number] of [
    ['easa', 'AT-66-777'],
    [' E.A.S.A. ', 'at 66 777'],
    ['EASA', 'ＡＴ６６７７７'],
  ] as const) {
    assert.equal(licenceKey({ authority, number }), key, number);
  }
  assert.notEqual(licenceKey({ authority: 'FAA', number: 'AT.66.777' }), key);
  assert.notEqual(licenceKey({ authority: 'EASA', number: 'AT.66.778' }), key);
});

test('the rules ignore the case of addresses, and how licence numbers are written', () => {
  assert.deepEqual(judgeSignoff(signing), { licence: licence('repair', 'B') });
  const refused = (change: Partial<Signing>, code: string, message: RegExp) => {
    const judged = judgeSignoff({ ...signing, ...change });
    assert.ok('code' in judged, JSON.stringify(change));
    assert.equal(judged.code, code);
    assert.match(judged.message, message);
  };
  refused({ workerAddress: '0xA' }, 'conflict', /did the work/);
  refused({ licences: [licence('repair', ' a-1')] }, 'same_licence', /belongs to someone who did the work/);
  // Also when another licence would be used.
  refused({ licences: [licence('repair', 'B'), licence('paint', 'A1')] }, 'same_licence', /someone else/);
  refused({ identity: 'wrk_a' }, 'same_person', /the same person as 0xa, who did the work/);
  refused({ earlier: [] }, 'conflict', /performed before/);
  const certified = [
    ...signing.earlier,
    { role: 'certified', workerAddress: '0xB', identities: ['wrk_b'] } as const,
  ] as Signing['earlier'];
  refused({ earlier: certified }, 'conflict', /already/);
  refused({ earlier: certified, workerAddress: '0xd' }, 'same_person', /already signed as certified/);
  refused(
    { role: 'performed', workerAddress: '0xc', identity: 'wrk_c', earlier: certified },
    'conflict',
    /must come before/,
  );
  const inherited = signing.performers.map((one) => ({ ...one, inherited: true }));
  for (const change of [
    { workerAddress: '0xA' },
    { identity: 'wrk_a' },
    { licences: [licence('repair', 'A1')] },
  ]) {
    refused({ ...change, performers: inherited }, 'performer_of_corrected', /that this one corrects/);
  }
});
