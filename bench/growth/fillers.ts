/**
 * What a service has after a long time, written by the million with SQL: one filler for each table that grows. Hashes and
 * signatures are made up; everything that the loops of the service look at is as it should be.
 */

export interface Filler {
  /** What it fills, in the plural. */
  name: string;
  /** Statements for the rows of the temporary table `chunk` (n, ms, at, ulid, id_bytes), which ascend. */
  statements: string[];
  /** Run once, before and after all of it. */
  before?: string[];
  after?: string[];
}

/** The values that all fillers share, as settings of the session: workspace, endpoint, first_day and days. */
const setting = (name: string) => `current_setting('bench.${name}')`;
const workspace = setting('workspace');

/** Leaves of a batch, all of one vault. Aligned, so that a batch has whole rows of places. */
export const batchLeaves = 1024;
/** The first leaf and its batch have these numbers, far behind what the service has made itself. */
const firstLeaf = 1_024 * batchLeaves;
const batchOf = `(${firstLeaf / batchLeaves} + (n - 1) / ${batchLeaves})`;

const hashOf = (what: string) => `sha256((n || '${what}')::bytea)`;

export const leaves: Filler = {
  name: 'records',
  before: [
    `insert into sender_accounts (address, next_nonce) values (decode(repeat('ee', 20), 'hex'), 1000000000) on conflict do nothing`,
  ],
  statements: [
    `create temp table vault_of on commit drop as
     select batch, (select id from vaults where workspace_id = ${workspace} order by id offset batch % 16 limit 1) as vault_id
     from (select distinct ${batchOf} as batch from chunk) as batches`,
    `insert into anchor_leaves (id, created_at, version, stored_bytes, workspace_id, kind, subject_id, vault_id,
       canonicalization, digest, previous_leaf, claims_hash, leaf, claims, salt, data)
     overriding system value
     select ${firstLeaf} + n - 1, at, 1, 100, ${workspace}, 'record', 'rec_' || ulid, vault_id, 'jcs', ${hashOf('data')},
       decode(repeat('00', 32), 'hex'), sha256('{}'), ${hashOf('leaf')}, '{}', ${hashOf('salt')},
       '{"sensor":"cold-room-4/probe-' || n % 8 || '","temperatureCelsius":-17.5,"humidityPercent":' || 40 + n % 20 || ',"doorOpen":false}'
     from chunk join vault_of on batch = ${batchOf}`,
    `insert into outgoing_transactions (id, account, nonce, purpose, to_address, call_data, gas_limit, status, mined_hash,
       block_number, block_hash, block_time, transaction_index, succeeded, created_at)
     overriding system value
     select ${batchOf}, decode(repeat('ee', 20), 'hex'), ${batchOf}, 'anchor', decode(repeat('ef', 20), 'hex'), '', 100000,
       'finalized', ${hashOf('tx')}, 0, ${hashOf('block')}, extract(epoch from at)::bigint, 0, true, at
     from chunk where (n - 1) % ${batchLeaves} = 0`,
    `insert into anchor_batches (id, root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time,
       announced, created_at, confirmed_at, evidence_root, head_path, inclusion_refused, stamped)
     overriding system value
     select ${batchOf}, ${hashOf('root')}, ${batchLeaves}, ${batchOf}, 'finalized', ${hashOf('tx')}, 0, ${hashOf('block')},
       extract(epoch from at)::bigint, ${batchLeaves}, at, at + interval '9 seconds', decode(repeat('00', 32), 'hex'), '',
       'made up', true
     from chunk where (n - 1) % ${batchLeaves} = 0`,
    `insert into anchor_subtrees (batch_id, workspace_id, vault_id, root, leaves, first_place, sequence, previous_seal,
       signature, seal_id, upper_path, ids)
     select batch, ${workspace}, vault_id, sha256(batch::text::bytea), string_agg(${hashOf('leaf')}, '' order by n), 0, batch,
       sha256((batch - 16)::text::bytea), decode(repeat('00', 65), 'hex'), sha256(batch::text::bytea), '',
       string_agg(int8send(${firstLeaf} + n - 1), '' order by n)
     from chunk join vault_of on batch = ${batchOf} group by batch, vault_id`,
    `insert into anchor_places (first_id, batch_id, places)
     select min(${firstLeaf} + n - 1), ${batchOf}, array_agg(((n - 1) % ${batchLeaves})::integer order by n)
     from chunk group by ${batchOf}, (n - 1) / 256`,
  ],
  after: [
    `select setval('anchor_leaves_id_seq', (select max(id) from anchor_leaves))`,
    `select setval(pg_get_serial_sequence('outgoing_transactions', 'id'), (select max(id) from outgoing_transactions))`,
    `select setval(pg_get_serial_sequence('anchor_batches', 'id'), (select max(id) from anchor_batches))`,
    // The batcher need not look for these leaves.
    'update anchor_positions set seen = pg_current_snapshot()',
  ],
};

export const auditEntries: Filler = {
  name: 'audit entries',
  before: [
    `create temp table chain_end as
     select coalesce(max(first_sequence + count - 1), 0) as sequence from audit_segments where workspace_id = ${workspace}`,
  ],
  statements: [
    `insert into audit_entries (at, workspace_id, id, actor_kind, actor_id, action, target_id, request_id, details, digest)
     select at, ${workspace}, 'aud_' || ulid, 'key', 'key_' || ulid, 'record.create', 'rec_' || ulid, 'req-' || n, '{}',
       ${hashOf('entry')} from chunk`,
    `insert into audit_segments (workspace_id, first_sequence, count, first_id, last_id, ids, hashes, chained_at)
     select ${workspace}, (select sequence from chain_end) + min(n), count(*), min(id_bytes), max(id_bytes),
       string_agg(id_bytes, '' order by n), string_agg(${hashOf('link')}, '' order by n), max(at)
     from chunk group by (n - 1) / 100`,
  ],
  after: ['update audit_positions set seen = pg_current_snapshot()'],
};

export const events: Filler = {
  name: 'events',
  before: [
    `create temp table feed_end as select coalesce(max(last_position), 0) as position from event_segments`,
  ],
  statements: [
    `insert into events (workspace_id, id, type, envelope, created_at, written_in)
     select ${workspace}, 'evt_' || ulid, 'record.anchor.confirmed',
       '{"id":"evt_' || ulid || '","type":"record.anchor.confirmed","workspace_id":"' || ${workspace} ||
       '","data":{"record_id":"rec_' || ulid || '","version":1,"status":"confirmed"}}', at, 0
     from chunk`,
    `insert into event_segments (first_position, last_position, workspace_id, id_start, ids, types)
     select position + min(n), position + max(n), ${workspace}, left('evt_' || ulid, 12), array_agg('evt_' || ulid order by n),
       array['record.anchor.confirmed']
     from chunk cross join feed_end group by position, left('evt_' || ulid, 12), (n - 1) / 48`,
  ],
  after: ['update event_positions set seen = pg_current_snapshot()'],
};

export const deliveries: Filler = {
  name: 'deliveries',
  before: [
    `do $$ begin
       for day in 0 .. ${setting('days')}::integer loop
         execute format('create table if not exists %I partition of webhook_deliveries for values from (%L) to (%L)',
           'webhook_deliveries_' || to_char(${setting('first_day')}::date + day, 'YYYYMMDD'),
           (${setting('first_day')}::date + day) || 'T00:00:00Z', (${setting('first_day')}::date + day + 1) || 'T00:00:00Z');
       end loop;
     end $$`,
  ],
  statements: [
    `insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, attempt_count, attempts, created_at)
     select ${workspace}, 'dlv_' || ulid, 'evt_' || ulid, ${setting('endpoint')}, 'record.anchor.confirmed', 'succeeded', 1,
       '[{"number":1,"at":"2026-01-01T00:00:00.000Z","durationMs":3,"statusCode":204,"error":null,"responseHeaders":{},"responseBody":""}]',
       at from chunk`,
  ],
};

/** Those of a list share a connection; two connections keep two cores busy. */
export const fillers: Filler[][] = [[leaves], [auditEntries, events, deliveries]];
