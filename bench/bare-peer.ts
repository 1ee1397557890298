/** The peer of reads and writes: a bare Fastify in a process of its own, on the PostgreSQL that the service uses. */
import { startChild } from './child.ts';
import type { Postgres } from './postgres.ts';

export interface BarePeer {
  pid: number;
  url: string;
  /** Things that are there from the beginning. */
  addresses: string[];
  stop(): Promise<void>;
}

export const peerDatabase = 'bench_peer';

/** Keyed by the address alone: as bare as a table can be that is read by address. */
const schema = `
  create table things (
    address     text collate "C" primary key,
    id          text        not null,
    name        text        not null,
    description text        not null default '',
    status      text        not null default 'active',
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now()
  )`;

/** So many that 64 connections read different ones. */
export const thingsToRead = 1_024;

export async function startBarePeer(postgres: Postgres): Promise<BarePeer> {
  await postgres.query('postgres', `create database ${peerDatabase}`);
  await postgres.query(peerDatabase, schema);
  const made = await postgres.query<{ address: string }>(
    peerDatabase,
    `insert into things (address, id, name, description)
     select '0x' || substr(encode(sha256(n::text::bytea), 'hex'), 1, 40), gen_random_uuid(), 'Thing ' || n, 'Read by the benchmark'
     from generate_series(1, $1::int) as n returning address`,
    [thingsToRead],
  );
  const child = startChild<object, string>(new URL('./bare-peer.process.ts', import.meta.url));
  try {
    const url = await child.ask(postgres.connection(peerDatabase), 20_000);
    return { pid: child.pid, url, addresses: made.map(({ address }) => address), stop: child.stop };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
