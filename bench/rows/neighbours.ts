/** `neighbours`: what a tenant notices of a neighbour who misuses the service, against one who sends as many honest requests. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apiBase } from '../../src/http/api/api.ts';
import { jsonPost, type LoadRequest, type LoadResult, startLoadGenerator } from '../load.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { keyHeaders, type Service, serviceEnvironment } from '../service.ts';
import { median, playInTurns, type Turn } from '../turns.ts';

const run = promisify(execFile);
const perSecond = { tenant: 50, neighbour: 200 };
const connections = 16;
const seconds = { 'warm-up': 2, measured: 8 };
const ratioToReach = 1.2;
/** All that a workspace may have. */
const filters = { endpoints: 10, terms: 30 };

interface Misuse {
  name: string;
  /** Makes what the misuse needs, in the workspace of the neighbour. */
  prepare(call: Call): Promise<{ honest: LoadRequest; misused: LoadRequest }>;
}

type Call = (path: string, body: object) => Promise<Record<string, string>>;

const post = (path: string, body: object) => jsonPost(apiBase + path, { body, idempotent: false });

const misuses: Misuse[] = [
  {
    name: 'the id of an asset is taken',
    async prepare(call) {
      const { address: vaultAddress } = await call('/platform/vaults', { name: 'Workshop' });
      const asset = { vaultAddress, name: 'Pump' };
      await call('/damc/assets/', { ...asset, assetId: 'taken' });
      return {
        honest: post('/damc/assets/', asset),
        misused: post('/damc/assets/', { ...asset, assetId: 'taken' }),
      };
    },
  },
  {
    name: 'endpoints with long filters',
    async prepare(call) {
      const terms = Array.from(
        { length: filters.terms },
        (_, place) => `data.address == "0x${String(place).padStart(40, '0')}"`,
      );
      for (let made = 0; made < filters.endpoints; made += 1)
        await call('/platform/webhooks/endpoints', {
          url: `https://127.0.0.1:9/${made}`,
          eventTypes: ['vault.created'],
          filter: terms.join(' or '),
        });
      return {
        honest: post('/damc/workers/', { name: 'Ada Example' }),
        misused: post('/platform/vaults', { name: 'Filtered' }),
      };
    },
  },
];

export const neighbours: Row = {
  name: 'neighbours',
  what: 'p99 of a tenant beside a neighbour who misuses the service, against an honest one',
  async measure(fixture) {
    const service = await fixture.service();
    const load = await fixture.load();
    const other = await fixture.keep(startLoadGenerator);
    const mine = { ...post('/platform/vaults', { name: 'Cold room 4' }) };
    const comparisons: Comparison[] = [];
    const details: Record<string, object> = {};
    for (const { name, prepare } of misuses) {
      const key = await newTenant(service, name);
      const { honest, misused } = await prepare(callerWith(service, key));
      const beside = (theirs: LoadRequest) => async (turn: Turn) => {
        const how = { url: service.url, connections, seconds: seconds[turn] };
        const [tenant] = await Promise.all([
          load.run({ ...how, requests: [withKey(mine, service.key ?? '')], perSecond: perSecond.tenant }),
          other.run({ ...how, requests: [withKey(theirs, key)], perSecond: perSecond.neighbour }),
        ]);
        return tenant;
      };
      const rounds = await playInTurns(
        { honest: beside(honest), misused: beside(misused) },
        {
          rounds: fixture.turns.rounds,
          tell: ({ honest, misused }) => `${name}: p99 ${honest.p99Ms} ms, ${misused.p99Ms} ms`,
        },
      );
      const ratio = median(rounds.map(({ honest, misused }) => misused.p99Ms / honest.p99Ms));
      comparisons.push({
        figure: name,
        peer: figureOf(rounds.map(({ honest }) => honest)),
        holdfast: figureOf(rounds.map(({ misused }) => misused)),
        ratio,
        toReach: `≤ ${ratioToReach}×`,
        reached: ratio <= ratioToReach,
      });
      details[name] = rounds;
    }
    return { comparisons, details: { perSecond, seconds, ...details } };
  },
};

function figureOf(results: LoadResult[]): Figure {
  return { value: median(results.map(({ p99Ms }) => p99Ms)), unit: 'ms', p99Ms: null };
}

function withKey(request: LoadRequest, key: string): LoadRequest {
  return { ...request, headers: { ...request.headers, 'x-api-key': key } };
}

function callerWith(service: Service, key: string): Call {
  return async (path, body) => {
    const headers = { ...keyHeaders(service), 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await fetch(service.url + apiBase + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
}

/** A key of a new workspace. */
async function newTenant({ dataDir }: Service, name: string): Promise<string> {
  const holdfast = async (...args: string[]) => {
    const program = join(import.meta.dirname, '../../bin/holdfast');
    const { stdout } = await run(program, [...args, '--json'], {
      cwd: dataDir,
      env: serviceEnvironment(dataDir),
    });
    return JSON.parse(stdout) as Record<string, string>;
  };
  const { id = '' } = await holdfast('workspaces', 'create', '--name', name);
  const { key = '' } = await holdfast('keys', 'create', '--workspace', id, '--name', name);
  return key;
}
