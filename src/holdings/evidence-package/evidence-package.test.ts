/** The files of evidence packages, checked with the very commands that their README.txt shows. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { openFolder, type UnpackedPackage } from '../../../test/support/clients/unpacked-package.ts';
import {
  clockedAt,
  coverItem,
  makeClockedProof,
  makeRenewedProof,
} from '../../../test/support/fixtures/clocked-proof.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { pem, type TestAuthority } from '../../../test/support/timestamps/test-authority.ts';
import { fromHex } from '../../proof/hex.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { readTrust } from '../../proof/verify/trust.ts';
import { packageDeclaration } from './package-declaration.ts';
import { packageReadme, type ReadmeInput } from './package-readme.ts';
import { trustFiles } from './package-trust.ts';
import { proofFiles } from './proof-files.ts';
import { zipFiles } from './zip-archive.ts';

const withOpenssl = needs('openssl');
const opened: UnpackedPackage[] = [];
after(() => Promise.all(opened.map((folder) => folder.close())));

const usual = { path: 'content/contract.txt', saltPath: null };

async function packed(
  proof: Proof,
  content: string,
  { authorities = [] as TestAuthority[], ...more }: Partial<ReadmeInput> & { authorities?: TestAuthority[] },
): Promise<UnpackedPackage> {
  const operatorRoots = authorities.map(({ trusted, root }) => ({
    anchor: trusted,
    pem: pem(root.certificate),
  }));
  const roots = await proofFiles(proof, operatorRoots);
  const readme = packageReadme({
    ...{ madeAt: new Date('2026-06-01T00:00:00Z'), subject: 'version 1 of the file fil_1', proof, roots },
    ...{
      content: usual,
      hasCertificate: false,
      hasOperatorRoots: authorities.length > 0,
      isPublicChain: true,
    },
    ...more,
  });
  const folder = await openFolder(
    new Map<string, Uint8Array>([
      ['README.txt', Buffer.from(readme)],
      ['content/contract.txt', Buffer.from(content)],
      ...[...roots.flatMap(({ files }) => files), ...trustFiles(operatorRoots)].map(
        ({ path, bytes }) => [path, bytes as Uint8Array] as const,
      ),
    ]),
  );
  opened.push(folder);
  return folder;
}

async function outputs(folder: UnpackedPackage, pattern: RegExp): Promise<string[]> {
  const chosen = folder.commands.filter((command) => pattern.test(command));
  assert.ok(chosen.length > 0, `no command like ${pattern} in\n${folder.readme}`);
  const all: string[] = [];
  for (const command of chosen) {
    const { code, output } = await folder.run(command);
    assert.equal(code, 0, `${command}\n${output}`);
    all.push(output);
  }
  return all;
}

withOpenssl.test(
  'sha256sum, od and openssl agree with the proof, by the commands of the README',
  async () => {
    const { proof, content, authority } = await makeClockedProof();
    const folder = await packed(proof, content, { authorities: [authority] });
    const [sum] = await outputs(folder, /^sha256sum content/);
    assert.ok(sum?.startsWith(proof.content.digest.slice(2)), sum);
    assert.deepEqual(await outputs(folder, /^od /), [proof.merkle.root.slice(2)]);
    const [verified] = await outputs(folder, /^openssl ts -verify/);
    assert.match(verified ?? '', /Verification: OK/);
    const [shown] = await outputs(folder, /^openssl ts -reply/);
    assert.match(shown ?? '', /Time stamp: Mar {2}2 09:00:00 2026 GMT/);
    assert.match(folder.readme, /CN=Test TSA stamped root\.bin on 2026-03-02T09:00:00Z\./);
    assert.match(folder.readme, /which the operator of the service chose\. Decide for yourself/);
    assert.match(folder.readme, new RegExp(`https://etherscan\\.io/tx/${clockTransaction(proof)}`));
    for (const line of folder.readme.split('\r\n').filter((line) => !/^ {2}/.test(line))) {
      assert.ok(line.length <= 120, `${line.length}: ${line}`);
    }
  },
);

withOpenssl.test(
  'a byte changed in the root, the token or the content shows in the output of the same commands',
  async () => {
    const { proof, content, authority } = await makeClockedProof();
    const folder = await packed(proof, `${content}!`, { authorities: [authority] });
    const [sum] = await outputs(folder, /^sha256sum content/);
    assert.ok(!sum?.startsWith(proof.content.digest.slice(2)));
    const [verify = ''] = folder.commands.filter((command) => command.startsWith('openssl ts -verify'));
    const spoiled = await folder.run(`printf x >> root.bin; ${verify}`);
    assert.notEqual(spoiled.code, 0);
    assert.match(spoiled.output, /Verification: FAILED/);
  },
);

needs('python3-opentimestamps').test(
  'the library of OpenTimestamps finds the digest and the block',
  async () => {
    const { proof, content, bitcoin } = await makeClockedProof();
    const folder = await packed(proof, content, {});
    const [sum = '', listed = '', header = ''] = await outputs(folder, /^(sha256sum root|python3)/);
    const imprint = createHash('sha256').update(fromHex(proof.merkle.root)).digest('hex');
    assert.ok(sum.startsWith(imprint));
    const [digest, block = ''] = listed.trim().split('\n');
    assert.equal(digest, imprint);
    const [, merkleRoot] = /^BitcoinBlockHeaderAttestation\(939000\) ([0-9a-f]{64})$/.exec(block) ?? [];
    assert.deepEqual(header.trim().split('\n'), [bitcoin.hash.slice(2), merkleRoot]);
    assert.ok(folder.readme.includes(`  ${merkleRoot}\r\n`));
  },
);

withOpenssl.test(
  'a later batch has a folder of its own, and an ended certificate is judged as of its time',
  async () => {
    const { proof, content, authorities } = await makeRenewedProof();
    const madeAt = new Date('2037-01-01T00:00:00Z');
    const folder = await packed(proof, content, { authorities, madeAt });
    assert.match(
      folder.readme,
      /The head of a later batch covers token-1\.tst: whoever vouches for renewal-1\/root\.bin/,
    );
    const commands = folder.commands.filter((command) => command.startsWith('openssl ts -verify'));
    assert.equal(commands.length, 2);
    assert.match(commands[0] ?? '', new RegExp(` -attime ${clockedAt / 1000}$`));
    assert.doesNotMatch(commands[1] ?? '', /-attime/);
    assert.match(commands[1] ?? '', /-in renewal-1\/token-1\.tst -data renewal-1\/root\.bin/);
    // openssl judges as of now, which is before the second token: as of the time of the package it must pass.
    const later = `-attime ${madeAt.getTime() / 1000}`;
    for (const command of [commands[0], `${commands[1]} ${later}`]) {
      const { output } = await folder.run(command ?? '');
      assert.match(output, /Verification: OK/, command);
    }
    const ended = await folder.run(`${commands[0]?.replace(/-attime \d+/, later)}`);
    assert.match(ended.output, /certificate has expired/);
  },
);

withOpenssl.test('a batch without a token of its own names the later one that covers its root', async () => {
  const { proof, content } = await makeClockedProof();
  const { renewal, authority } = await coverItem(fromHex(proof.merkle.root), clockedAt + 60_000);
  const covers = { renewal: null, anchor: null };
  const covered = { ...proof, anchors: proof.anchors.slice(0, 1), renewals: [{ covers, ...renewal }] };
  const folder = await packed(covered, content, { authorities: [authority] });
  assert.match(folder.readme, /The head of a later batch covers root\.bin:/);
  const [verified] = await outputs(folder, /^openssl ts -verify/);
  assert.match(verified ?? '', /Verification: OK/);
});

test('says so when content or trust is missing, and trust.json is a trust file', async () => {
  const { proof, content, authority } = await makeClockedProof({ chainId: 424_242 });
  const missing = { missing: 'It is not in this package: only its hash was given.' };
  const bare = await packed(proof, content, { content: missing, isPublicChain: false });
  assert.match(
    bare.readme,
    /only its hash was given\.\r\nThe SHA-256 of your copy must be\r\n {2}[0-9a-f]{64}\r\n/,
  );
  assert.match(bare.readme, /-CAfile ROOT\.pem/);
  assert.match(bare.readme, /get its root certificate from it and use it as ROOT\.pem/);
  assert.match(bare.readme, /chain 424242, which is not a known public chain/);
  assert.ok(!bare.names.includes('trust.json'));
  assert.match(
    (await bare.read('trust.txt')).toString(),
    /DigiCert Trusted Root G4\r\n {4}552f7bdcf1a7af9e6ce67201/,
  );
  const trusted = await packed(proof, content, { authorities: [authority] });
  const { tsaRoots } = readTrust(JSON.parse((await trusted.read('trust.json')).toString()));
  assert.deepEqual(
    tsaRoots.map(({ fingerprint }) => fingerprint),
    [authority.trusted.fingerprint],
  );
  assert.match(
    (await trusted.read('trust.txt')).toString(),
    new RegExp(authority.trusted.fingerprint.slice(2)),
  );
});

test('the declaration has blanks for the person, and names what it is about', async () => {
  const { proof } = await makeClockedProof();
  const text = packageDeclaration(proof, 'version 1 of the file fil_1');
  assert.ok(text.includes(proof.content.digest.slice(2)));
  assert.ok(text.includes(proof.seal.vault));
  assert.match(text, /I, _{40,} \(name\),/);
  assert.match(text, /Signature {7}_{40,}/);
});

function clockTransaction(proof: Proof): string {
  const [anchor] = proof.anchors;
  return (anchor as { transactionHash: string }).transactionHash;
}

test('stored bytes are read as the archive is read, and a failure or a reader that leaves ends both', async () => {
  let given = 0;
  let isEnded = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536);
      }
    } finally {
      isEnded = true;
    }
  }
  const size = 2 ** 40;
  const stored = { path: 'content', bytes: { size, read: async () => endless() } };
  const left = zipFiles([{ path: 'small', bytes: Buffer.from('x') }, stored], new Date(0));
  for await (const _ of left) if (given > 1_000_000) break;
  assert.ok(given < 3_000_000, `${given} bytes were read ahead of the reader`);
  assert.ok(left.destroyed);
  await waitUntil(() => isEnded);

  const read = async () => {
    throw new Error('the blob is gone');
  };
  await assert.rejects(
    buffer(zipFiles([{ path: 'content', bytes: { size: 5, read } }], new Date(0))),
    /blob is gone/,
  );
});
