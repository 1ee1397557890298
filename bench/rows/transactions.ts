/**
 * `transactions`: pages of a vault's transactions, at any depth and of any dates, against the same SELECT straight through
 * `pg`: the very statements of the service, without what they are asked and answered by.
 */
import type { Pool } from 'pg';
import { createTransactions, type Place } from '../../src/holdings/vaults/transactions.ts';
import type { Fixture } from '../fixture.ts';
import { holdfastDatabase, type Postgres } from '../postgres.ts';
import type { Comparison, Row } from '../row.ts';
import { type Statement, startSelectPeer } from '../select-peer.ts';
import { keyHeaders } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { perOperation, type Spent, watchProcesses } from '../spent.ts';
import type { Stream, StreamRequest, StreamResult } from '../stream.ts';
import { openTransactionData, type TransactionData } from '../transactions.ts';
import { median, playInTurns, type Turn } from '../turns.ts';
import { vaultsPath } from '../vaults.ts';

const total = Number(process.env.BENCH_TRANSACTIONS ?? 10_000_000);
const pageCount = 1_024;
const connections = 64;
const streamSeconds = 20;
const perSecond = 200;
const p99ToReachMs = 5;
const ratioToReach = 0.7;
/** A new service plans each of its statements anew for a while, on each of its connections. */
const secondsOf = { 'warm-up': 10, measured: 5 };

interface Played {
  perSecond: number;
  p99Ms: number;
  /** Pages. */
  operations: number;
  cpu: Spent | null;
}

/** A page somewhere in a list. */
interface Page {
  request: StreamRequest;
  statement: Statement;
}

export const transactions: Row = {
  name: 'transactions',
  what: `pages of ${total.toLocaleString('en')} transactions, any depth, any dates, against the same SELECT through pg`,
  async measure(fixture) {
    const holdfast = await openSide(fixture);
    const played = await playInTurns(
      { peer: await openPeer(fixture, holdfast), holdfast: holdfast.play },
      { rounds: fixture.turns.rounds, tell },
    );
    const steady = await holdfast.ask({
      perSecond,
      seconds: streamSeconds,
      warmUpSeconds: secondsOf['warm-up'],
    });
    const comparison = compare(played);
    return {
      comparisons: [
        {
          figure: `p99 at ${perSecond} req/s`,
          peer: null,
          holdfast: { value: steady.p99Ms, unit: 'ms', p99Ms: null },
          ratio: null,
          toReach: `≤ ${p99ToReachMs} ms`,
          reached: steady.p99Ms <= p99ToReachMs,
        },
        {
          ...comparison,
          toReach: `≥ ${ratioToReach}×`,
          reached: (comparison.ratio ?? 0) >= ratioToReach,
        },
      ],
      details: { total, rounds: played, steady },
    };
  },
  async against({ before, now }) {
    const sides = { peer: (await openSide(before)).play, holdfast: (await openSide(now)).play };
    const played = await playInTurns(sides, { rounds: now.turns.rounds, tell });
    return { comparisons: [compare(played)], details: { total, rounds: played } };
  },
};

interface HoldfastSide {
  postgres: Postgres;
  pages: Page[];
  ask(how: Pick<Stream, 'perSecond' | 'seconds' | 'warmUpSeconds'>): Promise<StreamResult>;
  play(turn: Turn): Promise<Played>;
}

async function openSide(fixture: Fixture): Promise<HoldfastSide> {
  const data = await openTransactionData(fixture, total);
  const { service, postgres } = data;
  // Of the two sides only ours has a client that speaks HTTP, so that has to be the leanest.
  const stream = await fixture.stream();
  const pages = await choosePages(data);
  const requests = pages.map(({ request }) => request);

  async function ask(how: Pick<Stream, 'perSecond' | 'seconds' | 'warmUpSeconds'>): Promise<StreamResult> {
    const result = await stream.run({ ...how, url: service.url, inFlight: connections, requests });
    if (result.fault !== null) throw new Error(result.fault);
    return result;
  }

  return {
    postgres,
    pages,
    ask,
    async play(turn) {
      const spent = await watchProcesses({ ...(await processesOf(service)), client: [stream.pid] });
      const { perSecond, p99Ms, succeeded } = await ask({ perSecond: null, seconds: secondsOf[turn] });
      const { cpu } = await spent.untilRest();
      return { perSecond, p99Ms, operations: succeeded, cpu };
    },
  };
}

async function openPeer(fixture: Fixture, { postgres, pages }: HoldfastSide): Promise<HoldfastSide['play']> {
  const peer = await fixture.keep(startSelectPeer);
  const statements = pages.map(({ statement }) => statement);
  return async (turn) => {
    const spent = await watchProcesses({ service: [peer.pid], postgres: [postgres.pid] });
    const { perSecond, p99Ms, done } = await peer.run({
      connection: postgres.connection(holdfastDatabase),
      statements,
      inFlight: connections,
      seconds: secondsOf[turn],
    });
    const { cpu } = await spent.untilRest();
    return { perSecond, p99Ms, operations: done, cpu };
  };
}

function tell({ peer, holdfast }: Record<'peer' | 'holdfast', Played>): string {
  return `${Math.round(peer.perSecond)}/s, ${Math.round(holdfast.perSecond)}/s`;
}

function compare(played: Record<'peer' | 'holdfast', Played>[]): Comparison {
  const figure = (side: 'peer' | 'holdfast') => ({
    value: median(played.map((turn) => turn[side].perSecond)),
    unit: 'pages/s' as const,
    p99Ms: median(played.map((turn) => turn[side].p99Ms)),
    cpuMicros: perOperation(played.map((turn) => turn[side])),
  });
  return {
    figure: 'throughput',
    peer: figure('peer'),
    holdfast: figure('holdfast'),
    ratio: median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond)),
    toReach: null,
    reached: null,
  };
}

/** Half of them of the largest vault; by signed cursors, by hashes and from the top; with and without dates. */
async function choosePages({ service, postgres, addresses }: TransactionData): Promise<Page[]> {
  const headers = { ...keyHeaders(service), 'content-type': 'application/json' };
  const ids = new Map(
    (
      await postgres.query<{ id: string; workspace_id: string; address: string }>(
        holdfastDatabase,
        'select id, workspace_id, address from vaults',
      )
    ).map((vault) => [vault.address, vault]),
  );
  const found: Page[] = [];
  for (let number = 0; number < pageCount; number += 1) {
    const address = addresses[number % 2 === 0 ? 0 : number % addresses.length] ?? '';
    const vault = ids.get(address);
    if (!vault) throw new Error(`there is no vault ${address}`);
    const [row] = await postgres.query<{ hash: Place['hash']; block: number; index: number; day: string }>(
      holdfastDatabase,
      `select '0x' || encode(hash, 'hex') as hash, block_number::int as block, transaction_index as index,
              to_char(to_timestamp(time_seconds) at time zone 'utc', 'YYYY-MM-DD') as day
       from vault_transactions where workspace_id = $1 and vault_id = $2 and block_number >= $3::bigint
       order by block_number, transaction_index limit 1`,
      [vault.workspace_id, vault.id, Math.floor((somewhere(number) * total) / 5.1)],
    );
    if (!row) throw new Error(`no transaction of ${address}`);
    const dates = datesAround(row.day, number);
    const path = `${vaultsPath}/${address}/transactions`;
    const place: Place = {
      hash: row.hash,
      // None but the bench wrote to the tables: there was no reorg.
      ...(number % 4 < 3 && { stood: { blockNumber: row.block, index: row.index, reorgId: 0 } }),
    };
    const after = number % 4 === 0 ? null : place;
    const cursor = after?.stood
      ? await signedCursor(service.url + path, headers, { cursor: row.hash, limit: 1, ...dates })
      : after?.hash;
    const body = JSON.stringify({ ...dates, ...(cursor !== undefined && { cursor }) });
    const query = { workspaceId: vault.workspace_id, vaultId: vault.id, ...dates, after, limit: 100 };
    found.push({
      request: { method: 'POST', path, headers, body },
      statement: await recordStatement((pool) => createTransactions(pool).list(query)),
    });
  }
  return found;
}

/** From 0 to 1, spread evenly; the same for each side. */
function somewhere(number: number): number {
  const goldenRatio = 0.618033988749895;
  return (number * goldenRatio) % 1;
}

/** What is asked of the database. */
async function recordStatement(work: (pool: Pool) => Promise<unknown>): Promise<Statement> {
  let asked: Statement | null = null;
  await work({
    async query(statement: Statement) {
      asked ??= statement;
      return { rows: [{ indexed_block: 0, reorg_id: 0, moved: 0, lines: null }] };
    },
  } as unknown as Pool);
  if (asked === null) throw new Error('nothing was asked');
  return asked;
}

interface Dates {
  initialDate?: string;
  finalDate?: string;
}

function datesAround(day: string, number: number): Dates {
  const shifted = (days: number) =>
    new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
  const initialDate = shifted(-(number % 90));
  const finalDate = shifted(number % 30);
  return [{}, { initialDate }, { finalDate }, { initialDate, finalDate }][(number >> 2) % 4] ?? {};
}

/** The cursor after the next transaction; undefined at the end of a list. */
async function signedCursor(
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<string | undefined> {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.text();
  return answer.headers.get('x-next-cursor') ?? undefined;
}
