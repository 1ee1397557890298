/** Which passwords are too easy to guess, and which are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWeak } from './weak-password.ts';

const owner = { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' };

for (const password of [
  'password12345',
  'Passw0rd!Passw0rd!',
  'P@ssw0rd2026!!',
  'qwertyuiop123',
  '1qaz2wsx3edc',
  'administrator1',
  'Welcome123456!',
  'iloveyou123456',
  'aaaaaaaaaaaaaa',
  '123456789012',
  'abcabcabcabc',
  'Summer2026!!!!',
  'holdfast-holdfast',
  'ada.lovelace@example.com',
  'AdaLovelace1815',
  'seven lovelace lanterns',
]) {
  test(`${password} is weak`, () => assert.equal(isWeak(password, owner), true));
}

for (const password of [
  'correct horse battery',
  'a long enough one',
  'the tide waits for nobody',
  'xK2#9vLq!mRt',
  'zwölf graue Möwen',
  'wrong wrong wrong',
  'よく晴れた日の海辺を歩く犬',
]) {
  test(`${password} is strong enough`, () => assert.equal(isWeak(password, owner), false));
}

test('a short name does not make unrelated passwords weak', () => {
  assert.equal(isWeak('harbour lights at dawn', { name: 'H A', email: 'a@b.co' }), false);
});
