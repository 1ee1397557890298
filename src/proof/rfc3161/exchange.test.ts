/** Requests, answers and what is stored, with the tests' authority and with a real one by openssl. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs, pathOf } from '../../../test/support/programs/needs.ts';
import { type Bytes, element, integer, sequence } from '../../../test/support/timestamps/der-writer.ts';
import { judgeCase, questionFor } from '../../../test/support/timestamps/fault-case.ts';
import { startOpensslAuthority } from '../../../test/support/timestamps/openssl-authority.ts';
import {
  base64,
  createTestAuthority,
  crlAddresses,
  stampedBytes,
  stampedImprint,
} from '../../../test/support/timestamps/test-authority.ts';
import { makeAnswer, makeRefusal } from '../../../test/support/timestamps/test-token.ts';
import { readRequest, startTimestampServer } from '../../../test/support/timestamps/timestamp-server.ts';
import { readTrustAnchor } from './certificates.ts';
import { isStorableCrl, readTimestampResponse, timestampNeeds, timestampRequest } from './exchange.ts';
import { judgeTimestamp } from './judge.ts';

const run = promisify(execFile);
const withOpenssl = needs('openssl');
const asking = { imprint: stampedImprint, nonce: 0x80_00_00_00_00_00_00_01n, certReq: true } as const;

async function post(url: string, body: Bytes): Promise<Bytes> {
  const headers = { 'content-type': 'application/timestamp-query' };
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

async function inScratch(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-tsa-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

withOpenssl.test('a request is read by openssl, and is the same as one by openssl', async () => {
  await inScratch(async (directory) => {
    await writeFile(join(directory, 'data'), stampedBytes);
    await writeFile(join(directory, 'ours'), timestampRequest({ ...asking, policy: '1.2.3.4.1' }));
    const { stdout } = await run(pathOf('openssl'), ['ts', '-query', '-in', 'ours', '-text'], {
      cwd: directory,
    });
    assert.match(stdout, /Hash Algorithm: sha256/);
    assert.match(stdout, /Policy OID: (tsa_policy1|1\.2\.3\.4\.1)/);
    assert.match(stdout, /Nonce: 0x8000000000000001/i);
    assert.match(stdout, /Certificate required: yes/);
    const query = ['ts', '-query', '-data', 'data', '-sha256', '-cert', '-out', 'theirs'];
    await run(pathOf('openssl'), query, { cwd: directory });
    const theirs = await run('cat', ['theirs'], { cwd: directory, encoding: 'buffer' });
    const { nonce } = readRequest(theirs.stdout);
    assert.ok(nonce !== undefined);
    assert.deepEqual(Buffer.from(timestampRequest({ ...asking, nonce })), theirs.stdout);
  });
});

test('the token is cut out of the answer as it is', () => {
  const token = createTestAuthority().stamp();
  for (const status of [0, 1]) {
    const answer = readTimestampResponse(makeAnswer(token, status));
    assert.deepEqual(answer, { token });
  }
});

test('a refusal is told in words', () => {
  const refusals: [Parameters<typeof makeRefusal>[0], string][] = [
    [{ failure: 0 }, 'The authority refused: rejection; it does not accept the hash algorithm.'],
    [
      { failure: 15, text: 'no, thanks' },
      'The authority refused: rejection; it does not offer the requested policy; "no\\, thanks".',
    ],
    [{ failure: 14 }, 'The authority refused: rejection; its clock is not available.'],
    [{ failure: 25 }, 'The authority refused: rejection; it had an internal failure.'],
    [{ failure: 9 }, 'The authority refused: rejection; failure 9.'],
    [{ status: 3 }, 'The authority refused: waiting.'],
    [{ status: 77, text: 'a\u202eb\nc' }, 'The authority refused: status 77; "a\ufffdb\ufffdc".'],
  ];
  for (const [made, refusal] of refusals)
    assert.deepEqual(readTimestampResponse(makeRefusal(made)), { refusal });
});

test('what is no answer is told in words too', () => {
  const token = createTestAuthority().stamp();
  const answers: [Bytes, RegExp][] = [
    [new Uint8Array(), /The answer is not/],
    [new TextEncoder().encode('<html>'), /The answer is not/],
    [makeAnswer(new Uint8Array()), /^The answer has no token\.$/],
    [token, /The answer is not in the form/],
    [makeAnswer(token).subarray(0, -1), /cut off/],
    [element(0x30, makeAnswer(token).subarray(4), 0), /a length is indefinite/],
    [sequence(sequence(integer(2 ** 40)), token), /The status of the answer is out of range/],
    [new Uint8Array(131_073), /^The answer is larger than 131072 bytes\.$/],
  ];
  for (const [bytes, reason] of answers) {
    const answer = readTimestampResponse(bytes);
    assert.ok('refusal' in answer);
    assert.match(answer.refusal, reason);
  }
});

test('what to store and where to fetch it', async () => {
  const { anchor, stamp, signer, intermediate, trusted, root } = createTestAuthority();
  const trust = { roots: [trusted] };
  const crls = [
    { name: 'CN=Test TSA', urls: [crlAddresses.signer] },
    { name: 'CN=Test TSA CA', urls: [crlAddresses.intermediate] },
  ];
  const complete = { isComplete: true, crls, issuerUrls: [] };
  assert.deepEqual(await timestampNeeds(anchor(), trust), { ...complete, certificates: [] });
  const bare = stamp({ certificates: [] });
  const all = [root.certificate, intermediate.certificate, signer.certificate];
  assert.deepEqual(await timestampNeeds(anchor(bare, { certificates: all }), trust), {
    ...complete,
    certificates: [signer.certificate, intermediate.certificate],
  });
  const incomplete = { isComplete: false, certificates: [], crls: [] };
  assert.deepEqual(await timestampNeeds(anchor(bare, { certificates: [signer.certificate] }), trust), {
    ...incomplete,
    issuerUrls: ['http://ca.test/tsa-ca.cer'],
  });
  assert.deepEqual(await timestampNeeds(anchor(), { roots: [] }), {
    ...incomplete,
    issuerUrls: ['http://ca.test/root.cer'],
  });
  assert.equal(await timestampNeeds(anchor(bare), trust), null);
  assert.equal(await timestampNeeds({ ...anchor(), token: 'garbage' }, trust), null);
});

test('only a list that can be read is stored', () => {
  const { crl, root } = createTestAuthority();
  assert.equal(isStorableCrl(crl('root')), true);
  assert.equal(isStorableCrl(crl('root').subarray(0, -1)), false);
  assert.equal(isStorableCrl(root.certificate), false);
  const revoked = Array.from({ length: 60_000 }, (_, serial) => ({ serial, date: 0 }));
  const large = crl('root', { revoked });
  assert.ok(large.length > 1_048_576);
  assert.equal(isStorableCrl(large), false);
  assert.equal(isStorableCrl(crl('root', { revoked: revoked.slice(0, 40_000) })), true);
});

test("the tests' authority answers over HTTP, and is wrong in every way that it is told to be", async () => {
  const server = await startTimestampServer();
  try {
    const { authority } = server;
    const ask = async () => {
      const answer = readTimestampResponse(await post(server.url, timestampRequest(asking)));
      if ('refusal' in answer) return answer.refusal;
      const question = questionFor(authority, { at: Date.now(), nonce: asking.nonce });
      const judgement = await judgeCase({ anchor: authority.anchor(answer.token), question });
      return judgement.status === 'pass' ? 'pass' : judgement.reason;
    };
    assert.equal(await ask(), 'pass');
    assert.deepEqual(server.requests[0], {
      ...{ imprint: stampedImprint, nonce: asking.nonce },
      policy: undefined,
      certReq: true,
    });
    server.mood = 'wrong nonce';
    assert.match(await ask(), /nonce of the request/);
    server.mood = 'wrong imprint';
    assert.match(await ask(), /imprint differs/);
    server.mood = 'garbage';
    assert.match(await ask(), /The answer is not/);
    server.mood = 'refusing';
    assert.match(await ask(), /it had an internal failure/);
    server.mood = 'huge';
    assert.match(await ask(), /larger than 131072 bytes/);
    server.mood = 'away';
    await assert.rejects(ask(), /503/);
    server.mood = 'hanging up';
    await assert.rejects(ask(), /fetch failed/);
    server.mood = 'slow';
    server.delayMs = 1;
    assert.equal(await ask(), 'pass');
    await server.closeDoor();
    await assert.rejects(ask(), /fetch failed/);
    await server.reopen();
    assert.equal(await ask(), 'pass');
    const list = authority.crl('root');
    server.files.set('/root.crl', list);
    const file = await fetch(new URL('/root.crl', server.url));
    assert.deepEqual(new Uint8Array(await file.arrayBuffer()), list);
  } finally {
    await server.close();
  }
});

withOpenssl.test(
  'a real authority by openssl, as in the documentation: what it grants passes, what it refuses is told',
  async () => {
    await inScratch(async (directory) => {
      const authority = await startOpensslAuthority(directory);
      try {
        const answer = readTimestampResponse(await post(authority.url, timestampRequest(asking)));
        assert.ok('token' in answer, JSON.stringify(answer));
        const anchor = { type: 'rfc3161', token: base64(answer.token), certificates: [], crls: [] } as const;
        const question = {
          ...{ imprint: stampedImprint, nonce: asking.nonce, at: Date.now() },
          trust: { roots: [readTrustAnchor(authority.rootPem)], policies: ['1.2.3.4.1'] },
        };
        const judgement = await judgeTimestamp({ ...anchor, certificates: [], crls: [] }, question);
        assert.equal(judgement.status, 'pass', JSON.stringify(judgement));
        assert.ok(judgement.status === 'pass' && judgement.accuracyMs === 1000);
        assert.equal(judgement.root.name, 'CN=Example Root');
        const refused = readTimestampResponse(
          await post(authority.url, timestampRequest({ ...asking, policy: '1.9.9' })),
        );
        assert.ok('refusal' in refused);
        assert.match(refused.refusal, /rejection; it does not offer the requested policy/);
        await writeFile(join(directory, 'token'), answer.token);
        await writeFile(join(directory, 'root.bin'), stampedBytes);
        const args = [
          'ts',
          '-verify',
          '-token_in',
          '-in',
          'token',
          '-data',
          'root.bin',
          '-CAfile',
          'root.pem',
        ];
        await run(pathOf('openssl'), args, { cwd: directory });
      } finally {
        await authority.close();
      }
    });
  },
);
