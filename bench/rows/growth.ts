/** `growth`: whether a service with very many rows is as fast as one with few. */
import { randomUUID } from 'node:crypto';
import { auditWrite, listAuditEntries } from '../../src/access/audit/audit.ts';
import { chainAuditEntries } from '../../src/access/audit/audit-chain.ts';
import { operatorIn } from '../../src/access/workspaces/workspaces.ts';
import { runChecks } from '../../src/app/checks.ts';
import { insertAll } from '../../src/db/writes.ts';
import { orderEvents } from '../../src/events/event-order.ts';
import { eventWrite } from '../../src/events/events.ts';
import { apiBase } from '../../src/http/api/api.ts';
import { NotMade } from '../../src/runtime/check.ts';
import { idBound, newId } from '../../src/runtime/ids.ts';
import { createQueue } from '../../src/webhooks/dispatch/queue.ts';
import { reading, recordsPath, startAnchoring } from '../anchoring.ts';
import type { Fixture } from '../fixture.ts';
import { filledService, subscribedType } from '../growth/filled-service.ts';
import { openWorkbench, type Workbench } from '../growth/side.ts';
import { jsonPost, type LoadRequest } from '../load.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { keyHeaders, type Service } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { type Processes, perOperation, type Spent, totalMicros, watchProcesses } from '../spent.ts';
import { median, playInTurns } from '../turns.ts';
import { makeVaults } from '../vaults.ts';

const few = 100_000;
const usuallyMany = 10_000_000;
const ratioToReach = 0.9;
/** Of each kind of row that a turn without a service makes and works on. */
const atOnce = 4_000;
const lists = 200;
const dayMs = 24 * 60 * 60 * 1000;

const claimRequest = {
  nodeId: 1,
  leaseMs: 60_000,
  room: [],
  usual: 500,
  fullWorkspaces: [],
  waiting: [],
  limit: 500,
};
const succeeded = {
  status: 'succeeded' as const,
  retryInMs: null,
  attempt: {
    ...{ number: 1, at: new Date().toISOString(), durationMs: 3, statusCode: 204, error: null },
    ...{ responseHeaders: {}, responseBody: '' },
  },
};

type Sides<T> = { peer: T; holdfast: T };

interface Played {
  perSecond: number;
  operations: number;
  cpu: Spent | null;
}

interface Task {
  figure: string;
  unit: Figure['unit'];
  /** What is not measured. Returns the work, which returns how many operations it was. */
  prepare(): Promise<() => Promise<number>>;
  processes: Processes;
  /** Whether background work after the last answer counts. */
  untilRest?: boolean;
}

export const growth: Row = {
  name: 'growth',
  what: `a service with ${usuallyMany.toLocaleString('en')} records, audit entries, events and deliveries against one with ${few.toLocaleString('en')}`,
  async measure(fixture) {
    const many = fixture.turns.rows ?? usuallyMany;
    const since = new Date();
    const dirs = { peer: await filledService(few, fixture), holdfast: await filledService(many, fixture) };
    const comparisons = [
      ...(await playServices(dirs, fixture)),
      ...(await playWorkbenches(dirs, fixture, since)),
    ];
    return { comparisons, details: { few, many } };
  },
};

/** What clients ask for. */
async function playServices(dirs: Sides<string>, fixture: Fixture): Promise<Comparison[]> {
  const load = await fixture.load();
  const open = async (dataDir: string) => {
    const service = await fixture.keep(() => startAnchoring(dataDir, fixture.root));
    return { service, addresses: await makeVaults(service, 16), processes: await processesOf(service) };
  };
  const sides = { peer: await open(dirs.peer), holdfast: await open(dirs.holdfast) };
  const asked = (figure: string, requestsOf: (service: Service, addresses: string[]) => LoadRequest[]) =>
    play(fixture, {
      ...both(sides, ({ service, addresses, processes }) => ({
        figure,
        unit: 'req/s' as const,
        processes,
        untilRest: true,
        prepare: async () => async () => {
          const { succeeded } = await load.run({
            url: service.url,
            connections: 64,
            seconds: fixture.turns.seconds,
            requests: requestsOf(service, addresses),
            freshIds: true,
          });
          return succeeded;
        },
      })),
    });
  const get = (path: string) => (service: Service) => [
    { method: 'GET' as const, path, headers: keyHeaders(service) },
  ];
  const overview = `${apiBase}/platform/stats?from=${new Date(Date.now() - 30 * dayMs).toISOString()}`;
  const compared = [
    await asked('create', (service, addresses) =>
      Array.from({ length: 64 }, (_, number) => {
        const body = { vaultAddress: addresses[number % addresses.length], ...reading(number) };
        return jsonPost(recordsPath, { headers: keyHeaders(service), body, idempotent: true });
      }),
    ),
    await asked('list, first page', get(`${recordsPath}?limit=50`)),
    await asked('overview of 30 days', get(overview)),
  ];
  for (const { service } of [sides.holdfast, sides.peer]) await service.stop();
  return compared;
}

/** What loops and commands do, one after the other. */
async function playWorkbenches(dirs: Sides<string>, fixture: Fixture, since: Date): Promise<Comparison[]> {
  const sides = {
    peer: await openWorkbench(dirs.peer, fixture),
    holdfast: await openWorkbench(dirs.holdfast, fixture),
  };
  const compared: Comparison[] = [];
  for (const task of tasks(since)) compared.push(await play(fixture, both(sides, task)));
  for (const side of [sides.holdfast, sides.peer]) await side.stop();
  return compared;
}

function tasks(since: Date): ((side: Workbench) => Task)[] {
  const task =
    (figure: string, unit: Figure['unit'], prepare: (side: Workbench) => Promise<() => Promise<number>>) =>
    (side: Workbench): Task => ({
      figure,
      unit,
      processes: { service: [process.pid], postgres: [side.pid] },
      prepare: () => prepare(side),
    });
  const middle = new Date(Date.now() - 40 * dayMs);
  return [
    task('batch', 'leaves/s', async (side) => {
      await side.addLeaves(atOnce);
      return async () => {
        await side.tryBatch();
        return atOnce;
      };
    }),
    task('chain', 'events/s', async ({ database: { db }, workspaceId }) => {
      while (await chainAuditEntries(db));
      const change = () =>
        auditWrite(operatorIn(workspaceId), { action: 'vault.update', targetId: newId('rec') });
      await insertAll(db, Array.from({ length: atOnce }, change));
      return async () => {
        while (await chainAuditEntries(db));
        return atOnce;
      };
    }),
    task('order', 'events/s', async ({ database: { db, pool }, workspaceId }) => {
      const data = { vault_id: newId('vlt'), address: `0x${'11'.repeat(20)}`, name: 'Vault' };
      const write = () =>
        eventWrite({ workspaceId, type: 'vault.deactivated', at: new Date(), data: data as never });
      await insertAll(db, Array.from({ length: atOnce }, write));
      return async () => {
        while (await orderEvents(pool));
        return atOnce;
      };
    }),
    task('claim', 'deliveries/s', async ({ database: { db, pool }, workspaceId }) => {
      const data = {} as never;
      const write = () => eventWrite({ workspaceId, type: subscribedType, at: new Date(), data });
      await insertAll(db, Array.from({ length: atOnce }, write));
      const queue = createQueue(pool);
      return async () => {
        let done = 0;
        while (done < atOnce) {
          const claimed = await queue.claim({ ...claimRequest, claimId: randomUUID() });
          if (claimed.length === 0) throw new Error(`only ${done} deliveries are due`);
          done += await queue.complete(claimed.map((delivery) => ({ delivery, ...succeeded })));
        }
        return done;
      };
    }),
    ...Object.entries({ 'audit list': undefined, 'audit list, deep': idBound('aud', middle) }).map(
      ([figure, before]) =>
        task(figure, 'pages/s', async ({ database: { db }, workspaceId }) => async () => {
          for (let time = 0; time < lists; time += 1)
            await listAuditEntries(db, { workspaceId, limit: 50, ...(before && { before }) });
          return lists;
        }),
    ),
    task('audit list by target', 'pages/s', async ({ database: { db }, workspaceId }) => {
      const [entry] = await listAuditEntries(db, { workspaceId, limit: 1, before: idBound('aud', middle) });
      return async () => {
        for (let time = 0; time < lists; time += 1)
          await listAuditEntries(db, { workspaceId, limit: 50, targetId: entry?.targetId ?? '' });
        return lists;
      };
    }),
    task('fsck of what is new, in rows', 'events/s', async ({ reading: { db } }) => async () => {
      const notHere = async () => {
        throw new NotMade('not here');
      };
      const reports = await runChecks(
        {
          ...{ db, keyring: notHere, blobStore: notHere, chain: notHere },
          retentionDays: 90,
          clocks: { authorities: [], rootsFile: null },
        },
        // The rows that were made up break rules, and what looks broken is read again: without a pause, which is no work.
        {
          ...{ since, settleMs: 0 },
          only: ['audit', 'events', 'nonces', 'anchors', 'records', 'announcements'],
        },
      );
      return reports.reduce((rows, { checked }) => rows + checked, 0);
    }),
  ];
}

function both<S, T>(sides: Sides<S>, make: (side: S) => T): Sides<T> {
  return { peer: make(sides.peer), holdfast: make(sides.holdfast) };
}

async function play(fixture: Fixture, tasks: Sides<Task>): Promise<Comparison> {
  const { figure, unit } = tasks.holdfast;
  const rounds = await playInTurns(
    both(tasks, (task) => () => playOnce(task)),
    {
      rounds: fixture.turns.rounds,
      tell: ({ peer, holdfast }) =>
        `${figure}: ${Math.round(peer.perSecond)} ${unit} with few rows, ${Math.round(holdfast.perSecond)} with many`,
    },
  );
  const figureOf = (side: keyof Sides<Task>): Figure => ({
    value: median(rounds.map((round) => round[side].perSecond)),
    unit,
    p99Ms: null,
    cpuMicros: perOperation(rounds.map((round) => round[side])),
  });
  const [peer, holdfast] = [figureOf('peer'), figureOf('holdfast')];
  const ratio = inverse(peer, holdfast) ?? holdfast.value / peer.value;
  return {
    figure,
    peer,
    holdfast,
    ratio,
    toReach: `≥ ${ratioToReach}× by CPU time`,
    reached: ratio >= ratioToReach,
  };
}

/** Of the CPU time for an operation, which others on the machine do not change. */
function inverse(peer: Figure, holdfast: Figure): number | null {
  if (!peer.cpuMicros || !holdfast.cpuMicros) return null;
  return totalMicros(peer.cpuMicros) / totalMicros(holdfast.cpuMicros);
}

async function playOnce({ prepare, processes, untilRest = false }: Task): Promise<Played> {
  const work = await prepare();
  const watch = await watchProcesses(processes);
  const began = performance.now();
  const operations = await work();
  const seconds = (performance.now() - began) / 1000;
  const sofar = await watch.sofar();
  const cpu = untilRest ? (await watch.untilRest()).cpu : sofar && { answering: sofar, afterwards: {} };
  return { perSecond: operations / seconds, operations, cpu };
}
