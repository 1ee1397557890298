/** The text of a certificate, read back from the PDF. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { drawWhole, readPdf } from '../../../test/support/clients/read-pdf.ts';
import { fixed, makeProofs, utf8 } from '../../../test/support/fixtures/proof-fixture.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import { drawCertificate } from './certificate.ts';
import type {
  AuthorityClock,
  BitcoinClock,
  BlockClock,
  CertificateInput,
  CustodyEntry,
} from './certificate-input.ts';
import { sizeInWords } from './certificate-words.ts';

const vault = { name: 'Contracts', address: '0x1563915E194D8CfBA1943570603F7606A3115508' };
const firstVersion: CustodyEntry = {
  kind: 'version',
  number: 1,
  vault,
  to: null,
  anchor: { blockNumber: 21_000_000, at: new Date('2026-11-15T02:19:30Z') },
};

const content = 'The tenant pays on the third.';
const place = { sequence: 1, chainId: 1, blockNumber: 21_000_000, blockTime: 1_794_709_170 };
const thing = { kind: 'file', id: 'fil_1', content: utf8(content), key: fixed(0x11) };
let proof: Proof;
let keyed: Proof;
before(async () => {
  const raw = { ...thing, canonicalization: 'raw' } as const;
  const [made] = await makeProofs([raw, { ...raw, id: 'fil_2' }], place);
  const hmac = { ...thing, canonicalization: 'hmac-sha256', salt: fixed(0x22) } as const;
  const [other] = await makeProofs([hmac], place);
  proof = made?.proof ?? assert.fail();
  keyed = other?.proof ?? assert.fail();
});

const block: BlockClock = {
  ...{
    kind: 'block',
    standing: 'shipped',
    chain: 'public',
    chainId: 1,
    name: 'Ethereum',
    isLater: false,
    isFinal: true,
  },
  at: new Date('2026-11-15T02:19:30Z'),
  number: 21_000_000,
  hash: fixed(0xb1),
  transactionHash: fixed(0xc1),
};
const ownBlock: BlockClock = {
  ...block,
  standing: 'nobody',
  chain: 'embedded',
  name: null,
  chainId: 1_234_567_890,
};
const authority: AuthorityClock = {
  ...{
    kind: 'authority',
    standing: 'shipped',
    isLater: false,
    isRenewed: false,
    name: 'CN=Example TSA, O=Example',
  },
  at: new Date('2026-11-15T02:19:41Z'),
  root: { name: 'CN=Example Root', fingerprint: fixed(0xf0) },
  validUntil: new Date('2034-01-01T00:00:00Z'),
};
const bitcoin: BitcoinClock = {
  ...{ kind: 'bitcoin', standing: 'nobody', isLater: false, height: 975_000, hash: fixed(0xd0) },
  at: new Date('2026-11-15T04:10:00Z'),
};

function input(
  more: Partial<CertificateInput> = {},
  file: Partial<CertificateInput['file']> = {},
): CertificateInput {
  return {
    madeAt: new Date('2026-11-15T10:00:00Z'),
    verifyUrl: 'https://evidence.example.com/verify',
    clocks: [block],
    isBitcoinPending: false,
    firstAnchoredAt: null,
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
    proof,
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
    const { text } = await read(input());
    for (const said of [
      'lease.pdf',
      proof.content.digest.slice(2),
      '1,234,567 bytes (1.23 MB)',
      'application/pdf',
      vault.address,
      'Notariat Müller',
      'existed no later than 15 November 2026 at 02:19:30 UTC: block 21,000,000 of Ethereum (chain id 1) vouches for that.',
      '21,000,000 of Ethereum (chain id 1), final',
      block.transactionHash,
      'Anybody who trusts what ships with Holdfast: Ethereum is a known public chain.',
      'sha256sum FILE',
      'https://evidence.example.com/verify',
      'holdfast verify proof.json FILE --rpc',
      'What is not certified',
      'a seal identifies the vault, not the person who used it',
    ]) {
      assert.ok(text.includes(said), `it does not say: ${said}\n${text}`);
    }
    assert.doesNotMatch(text, /PROVISIONAL|DEVELOPMENT|Expired|erased|Do not rely|First anchored|Pending/);
  });

  test('contains the proof, which verifies with the file', async () => {
    const { attachments } = await read(input());
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

  test('is marked on every page while its block is not final, and says what will count then', async () => {
    const waiting: BlockClock = { ...block, standing: 'nobody', isFinal: false };
    const { pages, text } = await read(input({ clocks: [waiting] }));
    assert.ok(pages.length > 1);
    for (const page of pages) assert.ok(page.some((line) => line.startsWith('PROVISIONAL')));
    assert.match(text, /as soon as block 21,000,000 of Ethereum \(chain id 1\) is final/);
    assert.match(text, /Nobody yet: Ethereum is a known public chain, but the block is not final/);
    assert.doesNotMatch(text, /DEVELOPMENT|Do not rely/);
  });

  test('is marked on every page as development evidence when nobody vouches, and certifies no time', async () => {
    const test: BlockClock = {
      ...block,
      standing: 'nobody',
      chain: 'test',
      name: 'Sepolia',
      chainId: 11_155_111,
    };
    const unknown: BlockClock = { ...block, standing: 'nobody', chain: 'unknown', name: null };
    for (const [clock, why] of [
      [ownBlock, /runs this chain alone.*the development chain of this service/],
      [test, /Sepolia is a test network, which may be reset/],
      [unknown, /not among the public chains.*a chain that is not known publicly \(chain id 1\)/],
    ] as const) {
      const { pages, text } = await read(input({ clocks: [clock] }));
      for (const page of pages)
        assert.ok(page.some((line) => line.startsWith('DEVELOPMENT EVIDENCE: NO PROOF')));
      assert.match(text, /According to the operator of this service, content/);
      assert.match(text, /Do not rely on this document/);
      assert.match(text, why);
    }
  });

  test('loses the band as soon as an authority of the shipped trust vouches, and states its time', async () => {
    const { text } = await read(input({ clocks: [ownBlock, authority, bitcoin] }));
    assert.doesNotMatch(text, /DEVELOPMENT|Do not rely|According to the operator/);
    for (const said of [
      'existed no later than 15 November 2026 at 02:19:41 UTC: the timestamp authority CN=Example TSA, O=Example vouches',
      'Root certificate CN=Example Root',
      fixed(0xf0).slice(2),
      'Certificate ends 1 January 2034 at 00:00:00 UTC',
      'Anybody who trusts what ships with Holdfast: the root certificate is part of it.',
      'Nobody: the operator of this service runs the chain alone.',
      '975,000, through OpenTimestamps',
      'Bitcoin’s clock is right to 2 hours.',
      'at a source of Bitcoin blocks that they trust',
      'without this service and without a network: holdfast verify proof.json FILE',
    ]) {
      assert.ok(text.includes(said), `it does not say: ${said}\n${text}`);
    }
  });

  test('keeps the band for an authority that the operator chose, and names its root on every page', async () => {
    const chosen: AuthorityClock = { ...authority, standing: 'operator' };
    const { pages, text } = await read(input({ clocks: [ownBlock, chosen] }));
    for (const page of pages) {
      const lines = page.join('\n');
      assert.match(lines, /DEVELOPMENT EVIDENCE: VOUCHED FOR BY CN=Example Root \(f0f0f0f0f0f0f0f0…\),/);
      assert.match(lines, /WHOM THE OPERATOR OF THIS SERVICE CHOSE/);
    }
    assert.match(
      text,
      /vouched for by CN=Example TSA, O=Example under the root certificate CN=Example Root \(SHA-256 fingerprint (f0)+\s?(f0)*\), whom the operator of this service chose/,
    );
    assert.match(
      text,
      /no later than 15 November 2026 at 02:19:41 UTC, according to the timestamp authority/,
    );
    assert.match(text, /--trust TRUST\.json/);
    assert.doesNotMatch(text, /Do not rely on this document/);
  });

  test('states the earliest time that counts, and says what came through a later batch or has ended', async () => {
    const later: AuthorityClock = { ...authority, isLater: true };
    const { text } = await read(
      input({ clocks: [{ ...block, at: new Date('2026-11-15T03:00:00Z') }, later] }),
    );
    assert.match(text, /existed no later than 15 November 2026 at 02:19:41 UTC: the timestamp authority/);
    assert.match(text, /A later batch, whose head covers the batch of this version/);
    const past = { validUntil: new Date('2026-11-15T09:00:00Z') };
    const ended = await read(input({ clocks: [ownBlock, { ...authority, ...past, standing: 'nobody' }] }));
    assert.match(ended.text, /Nobody any more: its certificate has ended/);
    assert.match(ended.text, /Do not rely/);
    const renewed = await read(input({ clocks: [ownBlock, { ...authority, ...past, isRenewed: true }] }));
    assert.match(renewed.text, /It has ended\. A later batch shows that the token is older/);
  });

  test('says that OpenTimestamps is pending, and that an earlier anchor is only a statement', async () => {
    const { text } = await read(
      input({ isBitcoinPending: true, firstAnchoredAt: new Date('2026-01-02T03:04:05Z') }),
    );
    assert.match(text, /OpenTimestamps Pending: it was submitted/);
    assert.match(
      text,
      /First anchored on 2 January 2026 at 03:04:05 UTC according to this service, in an earlier format\./,
    );
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
    const { text } = await read(
      input(
        { proof: { ...proof, claims: null } },
        { erased: { at: new Date('2026-11-15T09:00:00Z'), bytesKept: false } },
      ),
    );
    assert.match(text, /the service stored was erased on 15 November 2026 at 09:00:00 UTC/);
    assert.match(text, /no longer covered by the proof/);
  });

  test('explains a fingerprint made with a key of the client, which sha256sum does not reproduce', async () => {
    const { text } = await read(input({ proof: keyed }, { canonicalization: 'hmac-sha256', size: null }));
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
    const { text } = await read(input({ proof: keyed }, { name: '', size: 0 }));
    assert.match(text, /\(none given\)/);
    assert.match(text, /0 bytes: an empty file/);
    assert.match(text, /tree of 1 leaf/);
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
