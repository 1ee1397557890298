/** Millions of transactions of vaults, made once and kept under bench/cache/, and a service on them. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checksummed } from '../src/runtime/address.ts';
import type { Fixture } from './fixture.ts';
import { holdfastDatabase, joinPostgres, type Postgres } from './postgres.ts';
import { ownRoot, type Service, startService } from './service.ts';
import { makeVaults } from './vaults.ts';

export interface TransactionData {
  service: Service;
  postgres: Postgres;
  /** The first has a tenth of all transactions. */
  addresses: string[];
}

const cache = join(import.meta.dirname, 'cache');
const vaultCount = 100;
const perBlock = 5;
const secondsPerBlock = 12;
const chunk = 1_000_000;
const otherCount = 100_000;

/** Nobody may lead on a chain: its blocks would be others than those made here. */
const settings = { HOLDFAST_ROLES: 'api' };

export async function openTransactionData(fixture: Fixture, total: number): Promise<TransactionData> {
  // Two services cannot share a directory.
  const whose = fixture.root === ownRoot ? '' : '-other';
  const dataDir = join(cache, `transactions-${total}-${await fingerprint(fixture.root)}${whose}`);
  const noteFile = join(dataDir, 'bench.json');
  const note = await readFile(noteFile, 'utf8').catch(() => null);
  if (note === null) {
    // Half made, if it is there.
    await rm(dataDir, { recursive: true, force: true });
    await mkdir(dataDir, { recursive: true });
    const made = await make(fixture, dataDir, total);
    await writeFile(noteFile, JSON.stringify(made));
  }
  const { key, addresses } = JSON.parse(await readFile(noteFile, 'utf8')) as Note;
  const started = await fixture.keep(() => startService({ root: fixture.root, dataDir, settings }));
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  return { service: { ...started, key }, postgres, addresses };
}

interface Note {
  key: string;
  addresses: string[];
}

async function make(fixture: Fixture, dataDir: string, total: number): Promise<Note> {
  console.error(`  making ${total.toLocaleString('en')} transactions, kept in ${dataDir}`);
  const service = await fixture.keep(() => startService({ root: fixture.root, dataDir, settings }));
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  const addresses = await makeVaults(service, vaultCount);
  await fill(postgres, total, addresses[0] ?? '');
  await postgres.stop();
  await service.stop();
  if (service.key === null) throw new Error('the service printed no API key');
  return { key: service.key, addresses };
}

/** Without the indexes, which are then made at once: several times as fast as row by row. */
async function fill(postgres: Postgres, total: number, bigAddress: string): Promise<void> {
  const run = (text: string, values: unknown[] = []) => postgres.query(holdfastDatabase, text, values);
  const dropped = await postgres.query<{ drop: string; make: string }>(
    holdfastDatabase,
    `select case when c.oid is null then format('drop index %I', i.relname)
                 else format('alter table vault_transactions drop constraint %I', c.conname) end as drop,
            case when c.oid is null then pg_get_indexdef(i.oid)
                 else format('alter table vault_transactions add constraint %I %s', c.conname, pg_get_constraintdef(c.oid)) end as make
     from pg_index x join pg_class i on i.oid = x.indexrelid
     left join pg_constraint c on c.conindid = i.oid and c.contype = 'p'
     where x.indrelid = 'vault_transactions'::regclass`,
  );
  for (const { drop } of dropped) await run(drop);
  const blocks = Math.ceil(total / perBlock);
  const first = Math.floor(Date.now() / 1000) - blocks * secondsPerBlock;
  await run(
    `insert into chain_blocks (number, hash, parent_hash, time_seconds, kept)
     select n, sha256(('block ' || n)::bytea), sha256(('block ' || n - 1)::bytea), $2::bigint + n * $3::bigint, true
     from generate_series(0, $1::bigint - 1) as n`,
    [blocks, first, secondsPerBlock],
  );
  await run('create unlogged table bench_others (place bigint primary key, address text not null)');
  await run('insert into bench_others select * from unnest($1::bigint[], $2::text[])', [
    Array.from({ length: otherCount }, (_, place) => place),
    Array.from({ length: otherCount }, (_, place) => otherAddress(place)),
  ]);
  for (let from = 0; from < total; from += chunk) {
    await run(
      `with numbered as (
         select workspace_id, id, address, row_number() over (order by lower(address) <> lower($6), id) - 1 as place
         from vaults
       ), dealt as (
         -- Every tenth to the first vault, the others to the rest by a hash of their number.
         select n, sha256(n::text::bytea) as hash,
                case when n % 10 = 0 then 0 else 1 + abs(hashint8(n)::bigint) % ($5::int - 1) end as place
         from generate_series($1::bigint, $2::bigint - 1) as n
       )
       insert into vault_transactions (workspace_id, vault_id, block_number, transaction_index, hash, from_address,
                                       to_address, value_wei, time_seconds)
       select v.workspace_id, v.id, d.n / $7::bigint, d.n % $7::bigint, d.hash,
              case when d.n % 2 = 0 then v.address else other.address end,
              case when d.n % 2 = 0 then other.address else v.address end,
              d.n * 1000000000000::numeric, $3::bigint + d.n / $7::bigint * $4::bigint
       from dealt d join numbered v on v.place = d.place
       join bench_others other on other.place = d.n % ${otherCount}
       order by d.n`,
      [from, Math.min(total, from + chunk), first, secondsPerBlock, vaultCount, bigAddress, perBlock],
    );
  }
  await run('drop table bench_others');
  for (const { make } of dropped) await run(make);
  await run('vacuum analyze');
  await run('checkpoint');
}

/** Those whom the vaults deal with. */
function otherAddress(place: number): string {
  return checksummed(`0x${createHash('sha256').update(String(place)).digest('hex').slice(0, 40)}`);
}

/** Of the schema, so that data of another one is not taken. */
async function fingerprint(root: string): Promise<string> {
  const migrations = join(root, 'migrations');
  const hash = createHash('sha256');
  for (const name of (await readdir(migrations)).sort()) hash.update(await readFile(join(migrations, name)));
  return hash.digest('hex').slice(0, 12);
}
