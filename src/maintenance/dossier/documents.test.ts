/** Documents with the longest texts in the scripts that are expensive to lay out: the main thread does none of that work. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { readPdf } from '../../../test/support/clients/read-pdf.ts';
import { threadCpuMs } from '../../../test/support/service/cpu-time.ts';
import { longOnly } from '../../../test/support/service/long.ts';
import type { CertificateInput } from '../../holdings/certificates/certificate-input.ts';
import { createDocumentThread } from '../../pdf/document-thread.ts';
import type { LogbookInput } from './logbook.ts';
import type { ReleaseInput } from './release-certificate.ts';
import type { SentEntry } from './sent-entry.ts';

const thread = createDocumentThread(new URL('./documents.thread.ts', import.meta.url));
after(() => thread.close());

/** The CPU time that one request may take on the main thread; test/e2e/http-cost.test.ts holds routes to it. */
const mostMs = 50;
const madeAt = new Date('2026-11-15T10:00:00Z');
const address = '0x1563915E194D8CfBA1943570603F7606A3115508';

/** Characters from all files of all fonts, with marks, joined and right-to-left, so that caches do not help. */
function hostile(length: number): string {
  const some = [
    '\u4e00',
    '\uac00',
    '\u{1f400}',
    '\u0628',
    '\u{1f469}\u200d\u{1f680}',
    '\u05d0',
    'e\u0301',
    '(',
  ];
  let text = '';
  for (let turn = 0; text.length < length; turn += 1) {
    const first = some[turn % some.length] ?? '';
    const point = first.codePointAt(0) ?? 0;
    text += point < 0x4e00 || first.length > 2 ? first : String.fromCodePoint(point + ((turn * 97) % 9_000));
  }
  return text.slice(0, length).toWellFormed();
}

async function measured(kind: string, input: unknown, items?: AsyncIterable<unknown>) {
  const before = threadCpuMs();
  const pieces = thread.write({ workspaceId: 'ws_1', kind, input, ...(items && { items }) });
  const pdf = await buffer(pieces);
  const ms = threadCpuMs() - before;
  return { ...readPdf(pdf), ms };
}

/** Retries, because garbage collection and the like also run in the thread, and code is slow at first. */
async function assertCheap(kind: string, input: unknown, items?: () => AsyncIterable<unknown>) {
  for (let turn = 0; ; turn += 1) {
    const made = await measured(kind, input, items?.());
    if (made.ms <= mostMs) return made;
    assert.ok(turn < 3, `${kind}: ${made.ms} ms`);
  }
}

function certificate(name: string, vaultName: string): CertificateInput {
  const vector = join(import.meta.dirname, '../../../test/vectors/file-raw.json');
  const vault = { name: vaultName, address };
  return {
    madeAt,
    verifyUrl: 'https://evidence.example.com/verify',
    clocks: [
      {
        ...{ kind: 'block', standing: 'shipped', chain: 'public', name: 'Ethereum', chainId: 1, at: madeAt },
        ...{ isLater: false, isFinal: true, number: 1, hash: '0x', transactionHash: '0x' },
      },
    ],
    isBitcoinPending: false,
    firstAnchoredAt: null,
    workspace: { id: 'ws_1', name: vaultName },
    vault: { id: 'vlt_1', ...vault },
    file: {
      id: 'fil_1',
      name,
      version: 1,
      newestVersion: 1,
      mediaType: 'application/pdf',
      size: 1,
      canonicalization: 'raw',
      createdAt: madeAt,
      expiresAt: null,
      erased: null,
    },
    proof: JSON.parse(readFileSync(vector, 'utf8')).proof,
    custody: Array.from({ length: 11 }, (_, place) => ({
      kind: 'transfer' as const,
      number: place + 1,
      vault,
      to: vault,
      anchor: { blockNumber: 1, at: madeAt },
    })),
    custodyLeftOut: 0,
  };
}

const asset: LogbookInput['asset'] = {
  assetId: 'asset-1',
  name: hostile(200),
  serialNumber: hostile(255),
  partNumber: hostile(255),
  metadata: { note: hostile(20_000) },
  usage: { hours: 0, cycles: 0 },
  version: 1,
  parentAssetId: null,
  createdAt: madeAt.toISOString(),
  updatedAt: madeAt.toISOString(),
  status: 'pending',
  anchor: null,
};

function entry(summary: string, data: Record<string, unknown>): SentEntry {
  const text = JSON.stringify({
    format: 'holdfast/maintenance@1',
    workspaceId: 'ws_1',
    assetId: 'asset-1',
    maintenanceId: 'mnt_1',
    type: 'inspection',
    summary,
    performedAt: madeAt.toISOString(),
    recordedAt: madeAt.toISOString(),
    workerAddress: address,
    workerName: hostile(200),
    data,
    files: [],
    supersedes: null,
  });
  return {
    number: 1,
    text,
    hash: `0x${'ab'.repeat(32)}`,
    supersededBy: null,
    status: 'pending',
    anchor: null,
    signoffs: [],
    developmentEvidence: false,
  };
}

const chain: LogbookInput['chain'] = { chain: 'public', name: 'Ethereum' };

test('draws a certificate with names of maximum length', async () => {
  const { text } = await assertCheap('certificate', certificate(hostile(255), hostile(200)));
  assert.ok(text.includes('Certificate of anchoring'));
});

test('a certificate shows names in any script as they were written', async () => {
  for (const name of ['检查主旋翼.pdf', '髙橋の点検.pdf', '대한민국.pdf', '🚁❤️.pdf']) {
    const { text } = await measured('certificate', certificate(name, 'Vault'));
    assert.ok(text.replaceAll(' ', '').includes(name), name);
  }
  for (const name of ['محمد', 'שלום']) {
    const { text } = await measured('certificate', certificate(name, 'Vault'));
    // In drawing order; PDF readers reverse it.
    assert.ok(text.includes([...name].reverse().join('')), name);
  }
});

test('draws a release certificate of the largest entry, with each value cut to a page or two', {
  skip: longOnly,
}, async () => {
  const data = Object.fromEntries(
    Array.from({ length: 10 }, (_, place) => [`value ${place}`, hostile(9_000)]),
  );
  const input: ReleaseInput = {
    asset,
    owner: { address, name: hostile(200) },
    madeAt,
    chain,
    source: 'entries',
  };
  const sent = entry(hostile(10_000), data);
  assert.ok(Buffer.byteLength(sent.text) > 200_000);
  const { text } = await assertCheap('releaseCertificate', { ...input, sent });
  assert.ok(text.includes('(5,000 more characters in the dossier)'));
});

test('draws a logbook, and takes its pages of entries one by one', async () => {
  const input: LogbookInput = {
    asset,
    owner: { address, name: hostile(200) },
    owners: [],
    installations: [],
    parts: [],
    workspaceId: 'ws_1',
    madeAt,
    chain,
    developmentEvidence: false,
  };
  async function* pages() {
    for (let page = 0; page < 3; page += 1) yield [entry(hostile(10_000), {}), entry('The end', {})];
  }
  const { text } = await assertCheap('logbook', input, pages);
  assert.equal(text.match(/inspection: The end/g)?.length, 3);
});
