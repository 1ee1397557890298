/** Excuses a refusal that is about a made-up name, and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesMadeUp } from './made-up-names.ts';

const existing = { assetId: 'ast_1', vaultAddress: '0xAb', token: 'known' };

function excused(message: string, { query = [], body }: { query?: [string, string][]; body?: unknown }) {
  return namesMadeUp(message, { path: '/', headers: {}, query, body }, existing);
}

test('takes a name for made up that the request has and nothing that exists does', () => {
  assert.equal(excused('There is no asset ast_2.', { body: { parentAssetId: 'ast_2' } }), true);
  assert.equal(excused('There is no vault 0xCD.', { query: [['vaultAddress', '0xcd']] }), true);
  assert.equal(excused('There is no version 7 of the file.', { body: { of: [{ version: 7 }] } }), true);
  assert.equal(excused('There is no such link.', { body: { token: 'guessed' } }), true);
  const entries = { of: { ids: ['ast_1', 'ast_2'] } };
  assert.equal(excused('of.ids names one that it does not have.', { body: entries }), true);
});

test('does not excuse that something is missing which exists, or which nobody asked for', () => {
  assert.equal(excused('There is no asset ast_1.', { body: { parentAssetId: 'ast_1', name: 'x' } }), false);
  assert.equal(excused('There is no vault 0xab.', { query: [['vaultAddress', '0xAB']] }), false);
  assert.equal(excused('There is no version 1 of the file.', { body: { version: 1 } }), false);
  assert.equal(excused('There is no asset ast_12.', { body: { number: 12, flag: true } }), false);
  assert.equal(excused('There is no such link.', { body: { token: 'known' } }), false);
  assert.equal(excused('There is no asset ast_1.', {}), false);
  assert.equal(
    excused('of.ids names one that it does not have.', { body: { of: { ids: ['ast_1'] } } }),
    false,
  );
});
