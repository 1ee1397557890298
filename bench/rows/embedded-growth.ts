/**
 * `embedded-growth`: whether the embedded chain stays as it was while it grows: how soon records are confirmed, what an
 * anchor costs, how much memory the engine has, how soon the chain answers after a crash, and how much disk it takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { registryAddress } from '../../src/chain/registry/registry.ts';
import {
  type AnchoringService,
  createRecords,
  findChain,
  startAnchoring,
  startAnchoringService,
  waitForConfirmation,
} from '../anchoring.ts';
import { waitForRest } from '../cpu-time.ts';
import type { Fixture } from '../fixture.ts';
import { resultTables } from '../grow-chain.ts';
import { copyGrownChain, waitForIndex } from '../grown-chain.ts';
import { holdfastDatabase, joinPostgres, type Postgres } from '../postgres.ts';
import type { Comparison, Figure, Row } from '../row.ts';
import { findEngine, type Memory, readMemory } from '../service-processes.ts';
import { type CpuMicros, perOperation, totalMicros } from '../spent.ts';
import { type OfferedRecords, offerRecords } from '../steady-records.ts';

const sizes = [1_000, 10_000, 100_000];
const perSecond = 100;
const seconds = 20;
const warmUpSeconds = 4;
const restarts = 3;
/** Of the largest size to the smallest. */
const p95RatioToReach = 1.2;
const engineToReachMb = 300;
const startToReachMs = 5_000;
/** At the largest size. The ring of the last 8,191 block hashes (EIP-2935) is a part that does not grow. */
const diskToReachBytes = 1_024;

interface Restart {
  /** All from the start of the process. */
  readyMs: number;
  chainMs: number;
  confirmedMs: number;
}

interface Measured {
  anchors: number;
  diskBytes: Record<string, number>;
  bytesPerAnchor: number;
  offered: OfferedRecords;
  cpuPerAnchorMicros: CpuMicros;
  engine: Memory;
  restarts: Restart[];
}

export const embeddedGrowth: Row = {
  name: 'embedded-growth',
  what: `the embedded chain with ${sizes.map((size) => size.toLocaleString('en')).join(', ')} anchors: ${perSecond} records/s, kill -9, disk`,
  async measure(fixture) {
    const empty = await measureEmpty(fixture);
    const all: Measured[] = [];
    for (const anchors of sizes) all.push(await measureSize(anchors, fixture));
    const [first, last] = [all[0], all.at(-1)];
    const grownBytes = first && last && total(last.diskBytes) - total(first.diskBytes);
    return {
      comparisons: [
        ...latencyLines(all),
        ...costLines(all),
        ...engineLines(all),
        ...startLines(all),
        ...diskLines(all, empty),
      ],
      details: {
        perSecond,
        seconds,
        empty,
        /** From the smallest size to the largest, which leaves out most of what does not grow. */
        bytesPerFurtherAnchor: (grownBytes ?? 0) / ((last?.anchors ?? 0) - (first?.anchors ?? 0)),
        sizes: all,
      },
    };
  },
};

/** What the chain has beside its journal before there is an anchor. */
async function measureEmpty(fixture: Fixture): Promise<Record<string, number>> {
  const dataDir = await copyGrownChain(0, fixture);
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  const bytes = await measureDisk(postgres);
  await postgres.stop();
  return bytes;
}

async function measureSize(anchors: number, fixture: Fixture): Promise<Measured> {
  const dataDir = await copyGrownChain(anchors, fixture);
  const before = await fixture.keep(() => joinPostgres(dataDir));
  const diskBytes = await measureDisk(before);
  await before.stop();

  const anchoring = await startAnchoringService(fixture, dataDir);
  await waitForIndex(anchoring.postgres);
  const stream = await fixture.stream();
  await offerRecords(anchoring, stream, { perSecond, seconds: warmUpSeconds });
  const offered = await offerRecords(anchoring, stream, { perSecond, seconds });
  const engine = await readMemory(await findEngine(anchoring.service));
  const { cpu, stretchesMs } = offered;
  const cpuPerAnchorMicros = perOperation([{ cpu, operations: stretchesMs.batches }]);
  if (!cpuPerAnchorMicros) throw new Error('this row needs /proc');

  const measured: Restart[] = [];
  let { service } = anchoring;
  for (let time = 1; time <= restarts; time += 1) {
    const again = await restart({ ...anchoring, service }, fixture);
    service = again.service;
    measured.push(again.measured);
  }
  await anchoring.postgres.stop();
  await service.stop();
  const result = {
    anchors,
    diskBytes,
    bytesPerAnchor: total(diskBytes) / anchors,
    offered,
    cpuPerAnchorMicros,
    engine,
    restarts: measured,
  };
  console.error(
    `  ${anchors.toLocaleString('en')} anchors: p95 ${Math.round(offered.p95Ms)} ms, engine ${Math.round(engine.peakMb)} MB, chain back after ${Math.round(slowest(result, 'chainMs'))} ms, ${Math.round(result.bytesPerAnchor)} B per anchor`,
  );
  return result;
}

/** Vacuumed first, as it would be sooner or later. */
async function measureDisk(postgres: Postgres): Promise<Record<string, number>> {
  for (const table of resultTables) await postgres.query(holdfastDatabase, `vacuum ${table}`);
  const rows = await postgres.query<{ name: string; bytes: number }>(
    holdfastDatabase,
    `select name, pg_total_relation_size(name::regclass)::int as bytes
     from unnest($1::text[]) as name`,
    // The index is that of the journal's table, but serves what is asked of the chain.
    [[...resultTables, 'embedded_chain_blocks_hash']],
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Ends service and engine as a crash would, and starts the service again. */
async function restart(
  { service, ...others }: AnchoringService,
  fixture: Fixture,
): Promise<{ service: AnchoringService['service']; measured: Restart }> {
  await waitForRest();
  process.kill(await findEngine(service), 'SIGKILL');
  await service.kill();
  const began = performance.now();
  const sinceThen = () => performance.now() - began;
  const [again, chainMs] = await Promise.all([
    fixture.keep(() => startAnchoring(service.dataDir)),
    untilChainAnswers({ service, postgres: others.postgres }).then(sinceThen),
  ]);
  const anchoring = { ...others, service: again };
  const [id] = await createRecords(anchoring, 1);
  await waitForConfirmation(anchoring, id ?? '');
  return { service: again, measured: { readyMs: again.readyMs, chainMs, confirmedMs: sinceThen() } };
}

/** Asks for something that the engine has to read from the state. */
async function untilChainAnswers(anchoring: Parameters<typeof findChain>[0]): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(10)) {
    const url = await findChain(anchoring);
    if (url === null) continue;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getCode',
        params: [registryAddress, 'latest'],
      }),
    });
    const { result } = (await answer.json()) as { result?: string };
    if (result !== undefined && result.length > 2) return;
  }
  throw new Error('the embedded chain did not come back within 60 s');
}

function latencyLines(all: Measured[]): Comparison[] {
  const least = all[0]?.offered.p95Ms ?? Number.NaN;
  return all.map((one, place) => {
    const { p95Ms } = one.offered;
    const bare = line('p95', one, { value: p95Ms / 1000, unit: 's', p99Ms: null });
    const ratio = p95Ms / least;
    if (place === 0) return bare;
    if (place < all.length - 1) return { ...bare, ratio };
    return { ...bare, ratio, toReach: `≤ ${p95RatioToReach}× the first`, reached: ratio <= p95RatioToReach };
  });
}

function costLines(all: Measured[]): Comparison[] {
  return all.map((one) =>
    line('CPU per anchor', one, {
      value: totalMicros(one.cpuPerAnchorMicros),
      unit: 'µs',
      p99Ms: null,
      cpuMicros: one.cpuPerAnchorMicros,
    }),
  );
}

function engineLines(all: Measured[]): Comparison[] {
  return [
    ...all.map((one) => line('engine now', one, { value: one.engine.nowMb, unit: 'MB', p99Ms: null })),
    ...all.map((one) => ({
      ...line('engine at most', one, { value: one.engine.peakMb, unit: 'MB', p99Ms: null }),
      toReach: `≤ ${engineToReachMb} MB`,
      reached: one.engine.peakMb <= engineToReachMb,
    })),
  ];
}

/** The slowest counts. */
function startLines(all: Measured[]): Comparison[] {
  const timed = (figure: string, one: Measured, part: keyof Restart) =>
    line(figure, one, { value: slowest(one, part) / 1000, unit: 's', p99Ms: null });
  return [
    ...all.map((one) => ({
      ...timed('killed, chain back', one, 'chainMs'),
      toReach: `≤ ${startToReachMs / 1000} s`,
      reached: slowest(one, 'chainMs') <= startToReachMs,
    })),
    ...all.map((one) => timed('killed, ready', one, 'readyMs')),
    ...all.map((one) => timed('killed, a record confirmed', one, 'confirmedMs')),
  ];
}

function diskLines(all: Measured[], empty: Record<string, number>): Comparison[] {
  const ofAll = all.map((one, place) => {
    const bare = line('disk per anchor', one, { value: one.bytesPerAnchor, unit: 'B', p99Ms: null });
    if (place < all.length - 1) return bare;
    const reached = one.bytesPerAnchor <= diskToReachBytes;
    return { ...bare, toReach: `≤ ${diskToReachBytes.toLocaleString('en')} B`, reached };
  });
  const none: Figure = { value: total(empty) / 2 ** 20, unit: 'MB', p99Ms: null };
  return [...ofAll, line('disk of all', { anchors: 0 }, none)];
}

function line(figure: string, { anchors }: Pick<Measured, 'anchors'>, holdfast: Figure): Comparison {
  return {
    figure: `${figure}, at ${anchors.toLocaleString('en')}`,
    peer: null,
    holdfast,
    ratio: null,
    toReach: null,
    reached: null,
  };
}

function slowest({ restarts }: Pick<Measured, 'restarts'>, part: keyof Restart): number {
  return Math.max(...restarts.map((one) => one[part]));
}

function total(bytes: Record<string, number>): number {
  return Object.values(bytes).reduce((sum, one) => sum + one, 0);
}
