/** The event that announces a confirmed record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../db/database.ts';
import type { AnchoredLeaf } from './announcer.ts';
import { confirmedEvents } from './confirmed-event.ts';

const none = null as unknown as Db;
const leaf: AnchoredLeaf = {
  workspaceId: 'ws_1',
  kind: 'record',
  subjectId: 'rec_1',
  version: 2,
  vaultId: 'vlt_1',
  claims: null,
  announcedBefore: false,
  transactionHash: '0xab',
  blockNumber: 7,
  anchoredAt: new Date('2026-11-15T08:00:00Z'),
};

test('the event of a confirmed record says where and when it was anchored', async () => {
  const before = Date.now();
  const [write] = (await confirmedEvents().record?.(none, [leaf])) ?? [];
  assert.ok(write?.table === 'events');
  const { id, timestamp, ...envelope } = JSON.parse(write.row.envelope);
  assert.match(id, /^evt_/);
  assert.ok(Date.parse(timestamp) >= before && Date.parse(timestamp) <= Date.now());
  assert.deepEqual(envelope, {
    type: 'record.anchor.confirmed',
    workspace_id: 'ws_1',
    data: {
      record_id: 'rec_1',
      vault_id: 'vlt_1',
      version: 2,
      tx_hash: '0xab',
      block_number: 7,
      anchored_at: '2026-11-15T08:00:00.000Z',
    },
  });
});

test('a record that was announced with an earlier anchor has no second event', async () => {
  const again = { ...leaf, subjectId: 'rec_2', announcedBefore: true };
  const writes = await confirmedEvents().record?.(none, [again, leaf]);
  assert.deepEqual(
    writes?.map(({ row }) => JSON.parse((row as { envelope: string }).envelope).data.record_id),
    ['rec_1'],
  );
});
