/** What lists of revoked certificates say about a token, and which lists do not count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeCase, questionFor } from '../../../test/support/timestamps/fault-case.ts';
import { revocationCases } from '../../../test/support/timestamps/revocation-cases.ts';
import { createTestAuthority, stampedAt } from '../../../test/support/timestamps/test-authority.ts';

for (const { name, expected, make } of revocationCases) {
  test(`${typeof expected === 'string' ? expected : 'fail'}: ${name}`, async () => {
    const judgement = await judgeCase(make());
    if (typeof expected === 'string') {
      assert.equal(judgement.status === 'pass' && judgement.revocation, expected, JSON.stringify(judgement));
    } else {
      assert.equal(judgement.status, 'fail', JSON.stringify(judgement));
      assert.match('reason' in judgement ? judgement.reason : '', expected);
    }
  });
}

test('lists may come in any order, and more than once', async () => {
  const authority = createTestAuthority();
  const [root, signer] = [authority.crl('root'), authority.crl('intermediate')];
  for (const crls of [
    [signer, root],
    [root, root, signer, signer],
  ]) {
    const anchor = authority.anchor(undefined, { crls });
    const judgement = await judgeCase({ anchor, question: questionFor(authority) });
    assert.equal(judgement.status === 'pass' && judgement.revocation, 'checked');
  }
});

test('a list with tens of thousands of entries is searched', async () => {
  const authority = createTestAuthority();
  const entries = Array.from({ length: 25_000 }, (_, at) => ({
    serial: 1_000_000 + at,
    date: stampedAt,
    reason: 1,
  }));
  const judge = (revoked: typeof entries) => {
    const crls = [authority.crl('root'), authority.crl('intermediate', { revoked })];
    return judgeCase({ anchor: authority.anchor(undefined, { crls }), question: questionFor(authority) });
  };
  assert.equal((await judge(entries)).status, 'pass');
  assert.equal((await judge([...entries, { serial: 3, date: stampedAt, reason: 1 }])).status, 'fail');
});
