/** The figures about anchoring on /metrics, read as Prometheus reads them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Metric } from 'prom-client';
import { createChainMetrics } from '../../src/anchoring/metrics.ts';
import type { Chain, Lead } from '../../src/chain/chain.ts';
import type { SenderStatus } from '../../src/chain/sender/sender.ts';
import { openDatabase } from '../../src/db/database.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const submitter = async () => ({ address: `0x${'11'.repeat(20)}` as const });

/** A service whose chain is away: nobody leads, and what is accepted stays pending. */
let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.close());

async function figuresOf({ call }: Service): Promise<Map<string, number>> {
  const { status, text } = await call('GET', '/metrics', { key: null });
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => /^holdfast_(anchor|sender|chain)_/.test(line));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function newRecord({ call }: Service): Promise<string> {
  const vault = await call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } });
  const body = { vaultAddress: vault.json.address, data: { n: 1 } };
  const { status, json } = await call('POST', '/api-v1/platform/records', { body });
  assert.equal(status, 202);
  return json.id;
}

/** Shown as Prometheus would be told: the values by the label that tells them apart, or by ''. */
async function shownBy(metrics: Metric[]): Promise<Map<string, Record<string, number>>> {
  type Shown = { name: string; values: { value: number; labels: Record<string, string> }[] };
  const texts = await Promise.all(
    metrics.map((metric) => (metric as Metric & { get(): Promise<Shown> }).get()),
  );
  return new Map(
    texts.map(({ name, values }) => [
      name,
      Object.fromEntries(values.map(({ value, labels }) => [Object.values(labels).join(), value])),
    ]),
  );
}

test('every node reports what waits, from the database alone', async () => {
  await newRecord(service);
  await withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query(`update anchor_leaves set created_at = now() - interval '1 minute'`);
    const account = randomBytes(20);
    await client.query('insert into sender_accounts (address, next_nonce) values ($1, 5)', [account]);
    const statuses = [
      'signed',
      'submitted',
      'submitted',
      'mined',
      'mined',
      'confirmed',
      'finalized',
      'failed',
    ];
    for (const [nonce, status] of statuses.entries()) {
      const mined = ['mined', 'confirmed', 'finalized'].includes(status);
      const hash = mined ? randomBytes(32) : null;
      // Mined in blocks 14 and 15, with 16 indexed.
      const block = mined ? 11 + nonce : null;
      await client.query(
        `insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit, status,
           mined_hash, block_number, block_hash, created_at)
         values ($1, $2, 'test', $1, '', 1, $3, $4, $5, $4, now() - interval '2 minutes')`,
        [account, nonce, status, hash, block],
      );
    }
    await client.query(
      `insert into chain_blocks (number, hash, parent_hash, time_seconds)
       select n, decode(lpad(to_hex(n), 64, '0'), 'hex'), decode(lpad(to_hex(n - 1), 64, '0'), 'hex'), n
       from generate_series(13, 16) as n`,
    );
    await client.query('insert into chain_reorgs (fork_number, old_head) values (12, 13), (13, 15)');
    // One set aside, and one confirmed of which two of five leaves were told of.
    await client.query(
      `insert into anchor_batches (root, size, outgoing_id, status, block_number, announced, evidence_root, head_path)
       select $1, 5, id, case nonce when 7 then 'set_aside' else 'confirmed' end, block_number,
         case nonce when 7 then 0 else 2 end, sha256('e'), ''
       from outgoing_transactions where nonce in (5, 7)`,
      [randomBytes(32)],
    );
  });
  /** Ages as the database has them: before the figures are read, and after. */
  const ages = async () => {
    const { rows } = await withClient({ connectionString: service.databaseUrl }, (client) =>
      client.query(
        `select extract(epoch from now() - (select min(created_at) from anchor_leaves))::float8 as leaf,
           extract(epoch from now() - (select min(created_at) from outgoing_transactions))::float8 as transaction`,
      ),
    );
    return rows[0] as { leaf: number; transaction: number };
  };
  const { least, found, most } = await waitUntil(async () => {
    const [least, found, most] = [await ages(), await figuresOf(service), await ages()];
    return found.get('holdfast_chain_indexed_block') === 16 ? { least, found, most } : null;
  });
  const of = (status: string) => found.get(`holdfast_sender_open_transactions{status="${status}"}`);
  assert.deepEqual([of('signed'), of('submitted'), of('mined'), of('failed')], [1, 2, 2, undefined]);
  assert.equal(found.get('holdfast_sender_confirmations'), 3);
  const openFor = found.get('holdfast_sender_oldest_open_seconds') ?? 0;
  assert.ok(openFor >= least.transaction && openFor <= most.transaction, `${openFor} s`);
  assert.equal(found.get('holdfast_chain_reorgs_total'), 2);
  assert.equal(found.get('holdfast_anchor_pending_leaves'), 1);
  const oldest = found.get('holdfast_anchor_oldest_pending_seconds') ?? 0;
  assert.ok(oldest >= least.leaf && oldest <= most.leaf, `${oldest} s`);
  const batches = (status: string) => found.get(`holdfast_anchor_batches{status="${status}"}`);
  assert.deepEqual([batches('batched'), batches('confirmed'), batches('set_aside')], [0, 1, 1]);
  assert.equal(found.get('holdfast_anchor_unannounced_leaves'), 3);

  assert.equal(found.get('holdfast_chain_leads'), 0);
  for (const name of [
    'chain_head_block',
    'chain_lag_blocks',
    'sender_balance_wei',
    'sender_confirmations_wanted',
  ])
    assert.equal(found.has(`holdfast_${name}`), false, `${name} is the leader's to tell`);
  assert.ok(![...found.keys()].some((name) => name.includes('sender_waits_for')));
});

test('the leading node reports figures of the chain too', async () => {
  const leading = await startService({ chain: true });
  try {
    const id = await newRecord(leading);
    await waitUntil(
      async () => (await leading.call('GET', `/api-v1/platform/records/${id}`)).json.status === 'finalized',
      60_000,
    );
    const found = await waitUntil(async () => {
      const figures = await figuresOf(leading);
      // The two are not read at the same moment: a block may come between them.
      const [head, indexed] = ['head', 'indexed'].map((which) =>
        figures.get(`holdfast_chain_${which}_block`),
      );
      return head !== undefined && head === indexed ? figures : null;
    });
    assert.equal(found.get('holdfast_chain_leads'), 1);
    const head = found.get('holdfast_chain_head_block') ?? 0;
    assert.ok(head >= 3, `head ${head}`);
    assert.equal(found.get('holdfast_chain_lag_blocks'), 0);
    assert.ok((found.get('holdfast_sender_balance_wei') ?? 0) > 1e18);
    assert.equal(found.get('holdfast_sender_confirmations_wanted'), 1);
    assert.equal(found.has('holdfast_chain_head_age_seconds'), false, 'the embedded chain may rest');
    assert.equal(found.get('holdfast_sender_waits_for{reason="funds"}'), 0);
    assert.equal(found.get('holdfast_anchor_pending_leaves'), 0);
    assert.equal(found.get('holdfast_anchor_oldest_pending_seconds'), 0);
    assert.equal(found.get('holdfast_sender_oldest_open_seconds'), 0);
    assert.equal(found.get('holdfast_chain_reorgs_total'), 0);
    const chainOf = async (key: string) =>
      (await leading.call('GET', '/api-v1/platform/stats', { key })).json.chain;
    const told = await chainOf(leading.key);
    assert.ok(told.headBlock >= 3 && BigInt(told.balanceWei) > 0n && told.anchorsLeft > 0);
    const tenant = await chainOf(await leading.makeKey({ newWorkspace: true }));
    assert.ok(tenant.headBlock >= 3);
    assert.deepEqual([tenant.balanceWei, tenant.anchorsLeft], [null, null], 'told to operators only');
  } finally {
    await leading.close();
  }
});

test('reports why the lowest nonce waits, and a failing chain hides no other figure', async () => {
  const database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
    max: 1,
  });
  const lead = {
    chain: { head: () => Promise.reject(new Error('away')), client: { getBalance: async () => 1n } },
  } as unknown as Lead;
  let waiting: SenderStatus['waiting'] = { what: 'funds', reason: 'no money', outgoingId: 3 };
  const metrics = createChainMetrics({
    db: database.db,
    lead: () => lead,
    senderStatus: () => ({ waiting }),
    submitter,
  });
  try {
    // A database that takes more than 2 s leaves its figures out of a scrape.
    const shown = await waitUntil(async () => {
      const shown = await shownBy(metrics);
      return Object.keys(shown.get('holdfast_anchor_batches') ?? {}).length > 0 && shown;
    });
    assert.deepEqual(shown.get('holdfast_sender_waits_for'), { funds: 1, fees: 0, nonce: 0, refused: 0 });
    assert.deepEqual(shown.get('holdfast_chain_head_block'), {});
    assert.deepEqual(shown.get('holdfast_chain_lag_blocks'), {});
    assert.deepEqual(shown.get('holdfast_chain_leads'), { '': 1 });
    waiting = null;
    const later = await shownBy(metrics);
    assert.deepEqual(later.get('holdfast_sender_waits_for'), { funds: 0, fees: 0, nonce: 0, refused: 0 });
  } finally {
    await database.close();
  }
});

test('the age of the newest block reveals a chain that answers but stands still', async () => {
  const lonely = openDatabase({ connection: () => ({ host: '127.0.0.1', port: 1 }), onError() {}, max: 1 });
  const seconds = () => Date.now() / 1000;
  const ageOf = async (chain: Pick<Chain, 'embedded'>, timestamp: number) => {
    const client = { getBalance: async () => 1n, getBlock: async () => ({ timestamp: BigInt(timestamp) }) };
    const lead = { chain: { ...chain, client, head: async () => ({ number: 7 }) } } as unknown as Lead;
    const metrics = createChainMetrics({
      db: lonely.db,
      lead: () => lead,
      senderStatus: () => ({ waiting: null }),
      submitter,
    });
    const shown = await shownBy(metrics);
    assert.deepEqual(shown.get('holdfast_chain_head_block'), { '': 7 });
    return shown.get('holdfast_chain_head_age_seconds')?.[''];
  };
  try {
    const before = seconds();
    const stood = await ageOf({ embedded: false }, Math.floor(before) - 600);
    assert.ok(stood !== undefined && stood >= 600 && stood <= seconds() - before + 601, `${stood} s`);
    assert.equal(await ageOf({ embedded: false }, Math.floor(before) + 3600), 0, 'a clock that is behind');
    assert.equal(await ageOf({ embedded: true }, 0), undefined, 'it rests when there is nothing to do');
  } finally {
    await lonely.close();
  }
});

test('still shows the figures of the node itself while the database is unreachable', async () => {
  const lonely = openDatabase({ connection: () => ({ host: '127.0.0.1', port: 1 }), onError() {}, max: 1 });
  const metrics = createChainMetrics({
    db: lonely.db,
    lead: () => null,
    senderStatus: () => ({ waiting: null }),
    submitter,
  });
  const shown = await shownBy(metrics);
  assert.deepEqual(shown.get('holdfast_chain_leads'), { '': 0 });
  assert.deepEqual(shown.get('holdfast_anchor_pending_leaves'), {});
  assert.deepEqual(shown.get('holdfast_anchor_batches'), {});
  await lonely.close();
});
