/** `neighbours`: what a tenant notices of a neighbour who misuses the service, against one who sends as many honest requests. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apiBase } from '../../src/http/api/api.ts';
import { jsonPost, type LoadRequest, type LoadResult, startLoadGenerator } from '../load.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { type Service, serviceEnvironment } from '../service.ts';
import { median, playInTurns, type Turn } from '../turns.ts';

const run = promisify(execFile);
const perSecond = { tenant: 50, neighbour: 200 };
const connections = 16;
const seconds = { 'warm-up': 2, measured: 8 };
const ratioToReach = 1.2;
/** All that a workspace may have. */
const filters = { endpoints: 10, terms: 55, length: 2_000 };

interface Misuse {
  name: string;
  /** What the neighbour sends, with what it needs made before. */
  prepare(newTenant: () => Promise<Tenant>): Promise<{ honest: LoadRequest; misused: LoadRequest }>;
}

interface Tenant {
  make(path: string, body: object): Promise<Record<string, string>>;
  request(path: string, body: object): LoadRequest;
}

const misuses: Misuse[] = [
  {
    name: 'the id of an asset is taken',
    async prepare(newTenant) {
      const { make, request } = await newTenant();
      const { address: vaultAddress } = await make('/platform/vaults', { name: 'Workshop' });
      const asset = { vaultAddress, name: 'Pump' };
      await make('/damc/assets/', { ...asset, assetId: 'taken' });
      return {
        honest: request('/damc/assets/', asset),
        misused: request('/damc/assets/', { ...asset, assetId: 'taken' }),
      };
    },
  },
  {
    name: 'endpoints with long filters',
    async prepare(newTenant) {
      const [honest, misusing] = [await newTenant(), await newTenant()];
      const terms = Array.from({ length: filters.terms }, (_, place) => `data.record_id == "rec_${place}"`);
      for (let made = 0; made < filters.endpoints; made += 1)
        await misusing.make('/platform/webhooks/endpoints', {
          url: `https://127.0.0.1:9/${made}`,
          eventTypes: ['record.*'],
          filter: terms.join(' or ').padEnd(filters.length),
        });
      return { honest: await newRecord(honest), misused: await newRecord(misusing) };
    },
  },
];

async function newRecord({ make, request }: Tenant): Promise<LoadRequest> {
  const { address: vaultAddress } = await make('/platform/vaults', { name: 'Cold room' });
  return request('/platform/records', { vaultAddress, data: { celsius: 4 } });
}

export const neighbours: Row = {
  name: 'neighbours',
  what: 'p99 of a tenant beside a neighbour who misuses the service, against an honest one',
  async measure(fixture) {
    const service = await fixture.service();
    const load = await fixture.load();
    const other = await fixture.keep(startLoadGenerator);
    const mine = tenantOf(service, service.key ?? '').request('/platform/vaults', { name: 'Cold room 4' });
    const comparisons: Comparison[] = [];
    const details: Record<string, object> = {};
    for (const { name, prepare } of misuses) {
      const { honest, misused } = await prepare(() => newTenant(service));
      const beside = (theirs: LoadRequest) => async (turn: Turn) => {
        const how = { url: service.url, connections, seconds: seconds[turn] };
        const [tenant] = await Promise.all([
          load.run({ ...how, requests: [mine], perSecond: perSecond.tenant }),
          other.run({ ...how, requests: [theirs], perSecond: perSecond.neighbour }),
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

function tenantOf({ url }: Service, key: string): Tenant {
  const headers = { 'x-api-key': key };
  return {
    request: (path, body) => jsonPost(apiBase + path, { headers, body, idempotent: false }),
    async make(path, body) {
      const answer = await fetch(url + apiBase + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, string>;
    },
  };
}

let tenants = 0;

async function newTenant(service: Service): Promise<Tenant> {
  const { dataDir } = service;
  tenants += 1;
  const name = `Neighbour ${tenants}`;
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
  return tenantOf(service, key);
}
