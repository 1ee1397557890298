/** What other people's verifiers say of tokens that pass here. */
// tier: process
import assert from 'node:assert/strict';
import { needs } from '../../../test/support/programs/needs.ts';
import { questionFor } from '../../../test/support/timestamps/fault-case.ts';
import {
  askOpenssl,
  askOpensslCms,
  askPkijs,
  askRfc3161ng,
} from '../../../test/support/timestamps/oracles.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  judgedAt,
  stampedBytes,
} from '../../../test/support/timestamps/test-authority.ts';
import { nameOf } from '../../../test/support/timestamps/test-certificates.ts';
import { accuracy, type TokenOptions } from '../../../test/support/timestamps/test-token.ts';
import { judgeTimestamp } from './judge.ts';

interface GoodToken {
  name: string;
  authority?: AuthorityOptions;
  token?: Partial<TokenOptions>;
  /** The certificates are beside the token. */
  isBare?: boolean;
  /** `openssl ts` does not know RSA-PSS; `openssl cms` does. */
  openssl?: typeof askOpenssl;
}

const tokens: GoodToken[] = [
  { name: 'P-256' },
  { name: 'P-256 with SHA-512', authority: { rule: { hash: 'sha512' } } },
  { name: 'P-384', authority: { kind: 'p384', rule: { hash: 'sha384' } } },
  { name: 'RSA with SHA-256', authority: { kind: 'rsa' } },
  { name: 'RSA with SHA-384', authority: { kind: 'rsa', rule: { hash: 'sha384' } } },
  { name: 'RSA with SHA-512', authority: { kind: 'rsa', rule: { hash: 'sha512' } } },
  ...(['sha256', 'sha384', 'sha512'] as const).map((hash) => ({
    name: `RSA-PSS with ${hash}`,
    authority: { kind: 'rsa', rule: { hash, pss: true } } as const,
    openssl: askOpensslCms,
  })),
  { name: 'ESS v1', authority: { kind: 'rsa' }, token: { ess: ['v1'] } },
  { name: 'ESS v1 and v2', token: { ess: ['v1', 'v2'] } },
  { name: 'all that a TSTInfo can have', token: { accuracy: accuracy(1, 2, 3), nonce: 2n ** 64n - 1n } },
  { name: 'without certificates', token: { certificates: [] }, isBare: true },
  { name: 'RSA without certificates', authority: { kind: 'rsa' }, token: { certificates: [] }, isBare: true },
];

for (const { name, authority: options, token: changes, isBare, openssl = askOpenssl } of tokens) {
  needs('openssl').test(`a token passes here, with openssl and with pkijs: ${name}`, async () => {
    const authority = createTestAuthority(options);
    const { signer, intermediate, root } = authority;
    const untrusted = isBare ? [signer.certificate, intermediate.certificate] : [];
    const token = authority.stamp(changes);
    const anchor = authority.anchor(token, { certificates: untrusted });
    assert.equal((await judgeTimestamp(anchor, questionFor(authority))).status, 'pass');
    const asked = { token, data: stampedBytes, root: root.certificate, untrusted, at: judgedAt };
    assert.equal(await openssl(asked), null, 'openssl');
    assert.equal(await askPkijs(asked), null, 'pkijs');
    // And they do look: at other data, and at the root.
    const stranger = createTestAuthority({ root: { subject: nameOf('Stranger') } }).root.certificate;
    assert.notEqual(await openssl({ ...asked, root: stranger }), null);
    assert.notEqual(await askPkijs({ ...asked, data: new Uint8Array(32) }), null);
    if (openssl === askOpenssl) assert.notEqual(await openssl({ ...asked, data: new Uint8Array(32) }), null);
  });
}

needs('python3-rfc3161ng').test('rfc3161ng agrees on tokens by RSA', async () => {
  const authority = createTestAuthority({ kind: 'rsa' });
  const token = authority.stamp({ nonce: 5n, accuracy: accuracy(1) });
  assert.equal((await judgeTimestamp(authority.anchor(token), questionFor(authority))).status, 'pass');
  assert.equal(await askRfc3161ng({ token, data: stampedBytes }), null);
  assert.match((await askRfc3161ng({ token, data: new Uint8Array(32) })) ?? '', /mismatch|digest/);
});
