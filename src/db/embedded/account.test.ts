/** Which account runs the server when Holdfast runs as root. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountOf, chooseServerAccount, describeAccount } from './account.ts';

const root = 'root:x:0:0:root:/root:/bin/bash';
const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin';
const postgres = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';

test('prefers the account postgres', () => {
  const chosen = chooseServerAccount([root, nobody, postgres].join('\n'));
  assert.deepEqual(chosen, { name: 'postgres', uid: 101, gid: 104 });
});

test('uses nobody if there is no account postgres', () => {
  const chosen = chooseServerAccount(`${root}\n${nobody}\n`);
  assert.deepEqual(chosen, { name: 'nobody', uid: 65534, gid: 65534 });
});

test('does not choose an account that is root by another name or has a negative id', () => {
  assert.equal(chooseServerAccount('postgres:x:0:0::/:/bin/sh\nnobody:*:-2:-2::/:/usr/bin/false\n'), null);
  assert.equal(chooseServerAccount(''), null);
});

test('names owners by their account, or else by their number', () => {
  assert.equal(describeAccount(accountOf(postgres, { uid: 101, gid: 0 })), 'postgres (uid 101)');
  assert.equal(describeAccount(accountOf(postgres, { uid: 7, gid: 0 })), '#7 (uid 7)');
});
