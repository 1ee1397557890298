/** Which transactions have ended between two snapshots. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { hasEnded, parseSnapshot } from './snapshot.ts';

const ended = (before: string, after: string, ignored?: number[]) =>
  hasEnded(parseSnapshot(before), parseSnapshot(after), ignored);

test('finds a transaction that began and ended between two snapshots', () => {
  assert.equal(ended('10:10:', '10:10:'), false);
  assert.equal(ended('10:10:', '11:11:'), true);
});

test('finds a transaction that was open, but not one that still is', () => {
  assert.equal(ended('10:12:10', '10:12:10'), false);
  assert.equal(ended('10:12:10', '12:12:'), true);
  assert.equal(ended('10:10:', '10:11:10'), false);
  assert.equal(ended('10:13:10,12', '10:13:10'), true);
  assert.equal(ended('10:13:10,12', '10:15:10,12,13'), true);
});

test('ignores the transactions that it should, and only these', () => {
  assert.equal(ended('10:10:', '11:11:', [10]), false);
  assert.equal(ended('10:12:10', '12:12:', [10]), false);
  assert.equal(ended('10:10:', '12:12:', [10]), true);
});

test('counts numbers that go back as a change', () => {
  assert.equal(ended('1000:1000:', '10:10:'), true);
});
