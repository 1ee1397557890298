/**
 * `transactions`: pages of a vault's transactions, at any depth and of any dates, against the same SELECT straight through
 * `pg`: the very statements of the service, without what they are asked and answered by.
 */
import type { Pool } from 'pg';
import { createTransactions, type Place } from '../../src/holdings/vaults/transactions.ts';
import { waitForRest } from '../cpu-time.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { type Statement, startSelectPeer } from '../select-peer.ts';
import { keyHeaders } from '../service.ts';
import type { Stream, StreamRequest, StreamResult } from '../stream.ts';
import { openTransactionData, type TransactionData } from '../transactions.ts';
import { median, playInTurns } from '../turns.ts';
import { vaultsPath } from '../vaults.ts';

const total = Number(process.env.BENCH_TRANSACTIONS ?? 10_000_000);
const pages = 1_024;
const connections = 64;
const streamSeconds = 20;
const perSecond = 200;
const p99ToReachMs = 5;
const ratioToReach = 0.6;
/** A new service plans each of its statements anew for a while, on each of its connections. */
const secondsOf = { 'warm-up': 10, measured: 5 };
const rounds = 3;

interface Played {
  perSecond: number;
  p99Ms: number;
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
    const data = await openTransactionData(fixture, total);
    const { service, postgres } = data;
    // Of the two sides only ours has a client that speaks HTTP, so that has to be the leanest.
    const stream = await fixture.stream();
    const peer = await fixture.keep(startSelectPeer);
    const all = await choosePages(data);
    const requests = all.map(({ request }) => request);
    const statements = all.map(({ statement }) => statement);

    async function ask(how: Pick<Stream, 'perSecond' | 'seconds' | 'warmUpSeconds'>): Promise<StreamResult> {
      const result = await stream.run({ ...how, url: service.url, inFlight: connections, requests });
      if (result.fault !== null) throw new Error(result.fault);
      return result;
    }

    const played = await playInTurns(
      {
        async peer(kind): Promise<Played> {
          const connection = postgres.connection(holdfastDatabase);
          const result = await peer.run({
            connection,
            statements,
            inFlight: connections,
            seconds: secondsOf[kind],
          });
          await waitForRest();
          return result;
        },
        async holdfast(kind): Promise<Played> {
          const result = await ask({ perSecond: null, seconds: secondsOf[kind] });
          await waitForRest();
          return result;
        },
      },
      {
        rounds,
        tell: ({ peer, holdfast }) =>
          `pg ${Math.round(peer.perSecond)}/s, Holdfast ${Math.round(holdfast.perSecond)}/s`,
      },
    );
    const steady = await ask({ perSecond, seconds: streamSeconds, warmUpSeconds: secondsOf['warm-up'] });

    const ratio = median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond));
    const figure = (side: 'peer' | 'holdfast') => ({
      value: median(played.map((turn) => turn[side].perSecond)),
      unit: 'pages/s' as const,
      p99Ms: median(played.map((turn) => turn[side].p99Ms)),
    });
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
          figure: 'throughput',
          peer: figure('peer'),
          holdfast: figure('holdfast'),
          ratio,
          toReach: `≥ ${ratioToReach}×`,
          reached: ratio >= ratioToReach,
        },
      ],
      details: { total, rounds: played, steady },
    };
  },
};

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
  for (let number = 0; number < pages; number += 1) {
    const address = addresses[number % 2 === 0 ? 0 : number % addresses.length] ?? '';
    const vault = ids.get(address);
    if (!vault) throw new Error(`there is no vault ${address}`);
    const [row] = await postgres.query<{ hash: Place['hash']; block: number; index: number; day: string }>(
      holdfastDatabase,
      `select '0x' || encode(hash, 'hex') as hash, block_number::int as block, transaction_index as index,
              to_char(to_timestamp(time_seconds) at time zone 'utc', 'YYYY-MM-DD') as day
       from vault_transactions where workspace_id = $1 and vault_id = $2 and block_number >= $3::bigint
       order by block_number, transaction_index limit 1`,
      [vault.workspace_id, vault.id, Math.floor((Math.random() * total) / 5.1)],
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
