/** The text of a certificate, read back from the PDF. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as chains from 'viem/chains';
import { drawWhole, readPdf } from '../../../test/support/clients/read-pdf.ts';
import type { Proof } from '../../proof/proof.ts';
import { verifyProof } from '../../proof/verify.ts';
import { drawCertificate } from './certificate.ts';
import type { CertificateInput, CustodyEntry } from './certificate-input.ts';
import { sizeInWords } from './certificate-words.ts';
import { chainName } from './chain-names.ts';

const vault = { name: 'Contracts', address: '0x1563915E194D8CfBA1943570603F7606A3115508' };
const firstVersion: CustodyEntry = {
  kind: 'version',
  number: 1,
  vault,
  to: null,
  anchor: { blockNumber: 21_000_000, at: new Date('2026-11-15T02:19:30Z') },
};

function vector(name: string): { proof: Proof; content: string } {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../../../test/vectors/${name}.json`), 'utf8'));
}

function input(
  more: Partial<CertificateInput> = {},
  file: Partial<CertificateInput['file']> = {},
): CertificateInput {
  return {
    madeAt: new Date('2026-11-15T10:00:00Z'),
    verifyUrl: 'https://evidence.example.com/verify',
    embedded: false,
    workspace: { id: 'ws_1', name: 'Notariat Müller' },
    vault: { id: 'vlt_1', ...vault },
    file: {
      id: 'fil_1',
      name: 'lease.pdf',
      version: 1,
      newestVersion: 1,
      mediaType: 'application/pdf',
      size: 1_234_567,
      canonicalization: 'raw',
      createdAt: new Date('2026-11-15T02:19:28Z'),
      expiresAt: null,
      erased: null,
      ...file,
    },
    status: 'finalized',
    proof: vector('file-raw').proof,
    custody: [firstVersion],
    custodyLeftOut: 0,
    ...more,
  };
}

async function read(given: CertificateInput) {
  return readPdf(await drawWhole(drawCertificate(given)));
}

describe('a certificate', () => {
  test('names the file, the vault, the block and its time, and says how to check them', async () => {
    const given = input();
    const { text } = await read(given);
    const { content, anchors } = given.proof;
    const anchor = anchors[0] as { transactionHash: string };
    for (const said of [
      'lease.pdf',
      content.digest.slice(2),
      '1,234,567 bytes (1.23 MB)',
      'application/pdf',
      vault.address,
      'Notariat Müller',
      '15 November 2026 at 02:19:30 UTC',
      '21,000,000, final',
      'Ethereum (chain id 1)',
      anchor.transactionHash,
      'sha256sum FILE',
      'https://evidence.example.com/verify',
      'holdfast verify proof.json FILE --rpc',
      'What is not certified',
      'a seal identifies the vault, not the person who used it',
    ]) {
      assert.ok(text.includes(said), `it does not say: ${said}`);
    }
    assert.doesNotMatch(text, /PROVISIONAL|DEVELOPMENT|Expired|erased/);
  });

  test('contains the proof, which verifies with the file', async () => {
    const { proof, content } = vector('file-raw');
    const { attachments } = await read(input({ proof }));
    const attached = attachments.get('proof.json')?.toString() ?? '';
    assert.deepEqual(JSON.parse(attached), proof);
    const { steps } = await verifyProof(attached, { content: Buffer.from(content) });
    for (const name of ['digest', 'claims', 'leaf', 'path', 'seal']) {
      assert.equal(steps.find((step) => step.name === name)?.status, 'pass', name);
    }
  });

  test('is the same for the same input', async () => {
    const first = await drawWhole(drawCertificate(input()));
    assert.ok(first.equals(await drawWhole(drawCertificate(input()))));
  });

  test('is marked on every page while its block is not final', async () => {
    const { pages, text } = await read(input({ status: 'confirmed' }));
    assert.ok(pages.length > 1);
    for (const page of pages) assert.ok(page.some((line) => line.startsWith('PROVISIONAL')));
    assert.match(text, /not final yet: provisional/);
  });

  test('is marked on every page as development evidence on the embedded chain, and certifies no time', async () => {
    const { pages, text } = await read(input({ embedded: true }));
    for (const page of pages) assert.ok(page.some((line) => line.startsWith('DEVELOPMENT EVIDENCE')));
    assert.match(text, /According to the operator of this service, content/);
    assert.match(text, /the development chain of this service/);
  });

  test('says that a file has expired from exactly that second', async () => {
    const madeAt = new Date('2026-11-15T10:00:00Z');
    const before = await read(input({ madeAt }, { expiresAt: new Date('2026-11-15T10:00:01Z') }));
    assert.doesNotMatch(before.text, /That time has passed/);
    assert.match(before.text, /Expires 15 November 2026 at 10:00:01 UTC/);
    const after = await read(input({ madeAt }, { expiresAt: madeAt }));
    assert.match(after.text, /That time has passed/);
  });

  test('says that the content was erased, and that without claims its names are no longer bound', async () => {
    const proof = { ...vector('file-raw').proof, claims: null };
    const { text } = await read(
      input({ proof }, { erased: { at: new Date('2026-11-15T09:00:00Z'), bytesKept: false } }),
    );
    assert.match(text, /the service stored was erased on 15 November 2026 at 09:00:00 UTC/);
    assert.match(text, /no longer covered by the proof/);
  });

  test('explains a fingerprint made with a key of the client, which sha256sum does not reproduce', async () => {
    const { proof } = vector('file-hmac');
    const { text } = await read(input({ proof }, { canonicalization: 'hmac-sha256', size: null }));
    assert.match(text, /openssl dgst -sha256 -mac HMAC/);
    assert.doesNotMatch(text, /sha256sum/);
    assert.match(text, /given only the fingerprint/);
  });

  test('mentions a newer version', async () => {
    assert.match((await read(input({}, { newestVersion: 3 }))).text, /1 \(the newest is 3\)/);
  });

  test('lists the owners, transfers with both vaults, and what is not confirmed yet', async () => {
    const to = { name: 'Archive', address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A' };
    const transfer: CustodyEntry = { kind: 'transfer', number: 1, vault, to, anchor: null };
    const { text } = await read(input({ custody: [firstVersion, transfer], custodyLeftOut: 7 }));
    assert.match(text, /2026-11-15 02:19:30 Version 1 Contracts/);
    assert.match(text, /7 entries left out here/);
    assert.match(text, /not confirmed yet Transfer 1 from Contracts to Archive/);
    assert.ok(text.includes(to.address));
  });

  test('shows long names in any script completely, and no deceptive name', async () => {
    const name = `Договор Ελληνικά 契約 ${'long-part/'.repeat(60)}\u202Efdp.exe`;
    const { text } = await read(input({}, { name }));
    assert.match(text, /Договор Ελληνικά\s+契約/);
    assert.match(text, /‹U\+202E›fdp\.exe/);
    assert.equal(text.match(/long-/g)?.length, 60);
    assert.match(text, /written as their Unicode number/);
  });

  test('certifies an empty file without a name, alone in its batch, too', async () => {
    const { proof } = vector('single-leaf');
    const { text } = await read(input({ proof }, { name: '', size: 0 }));
    assert.match(text, /\(none given\)/);
    assert.match(text, /0 bytes: an empty file/);
    assert.match(text, /nothing else was in this batch/);
  });

  test('puts no name into the title, which is also written as XML', async () => {
    const pdf = await drawWhole(drawCertificate(input({}, { name: '<b>&"' })));
    const xml = pdf.toString('latin1').match(/<x:xmpmeta[\s\S]*<\/x:xmpmeta>/)?.[0] ?? '';
    assert.match(xml, /Certificate of anchoring fil_1\/1/);
    assert.doesNotMatch(xml, /<b>/);
  });
});

test('states sizes exactly and in round figures', () => {
  assert.equal(sizeInWords(1), '1 byte');
  assert.equal(sizeInWords(999), '999 bytes');
  assert.equal(sizeInWords(1_000), '1,000 bytes (1.00 kB)');
  assert.equal(sizeInWords(5 * 1024 ** 3), '5,368,709,120 bytes (5.37 GB)');
});

test('uses the common names of chains', () => {
  const known = new Map<number, string>(
    Object.values(chains).map(({ id, name }) => [id, name.toLowerCase()]),
  );
  for (const id of [1, 10, 56, 100, 137, 8_453, 42_161, 42_220, 59_144, 534_352, 11_155_111, 560_048]) {
    const name = chainName(id)?.toLowerCase() ?? '';
    const [word = 'none'] = (known.get(id) ?? '').split(' ');
    assert.ok(name.includes(word.replace('mainnet', 'ethereum')), `${id} is ${known.get(id)}, not ${name}`);
  }
  assert.equal(chainName(424_242), null);
});
