/** `upload`: files against a bare route that hashes and writes the same stream; and the memory that 2 GB take. */
import { apiBase } from '../../src/http/api/api.ts';
import type { Fixture } from '../fixture.ts';
import type { Comparison, Figure, Outcome, Row } from '../row.ts';
import { keyHeaders, startService } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { type Processes, perOperation, type Spent, watchProcesses } from '../spent.ts';
import { median, playInTurns, type Turn } from '../turns.ts';
import { startUploader, startUploadPeer, type Uploader, type UploadLoad } from '../upload.ts';
import { makeVaults } from '../vaults.ts';

const atLeast = 0.7;
const mostMb = 300;
const largeBytes = 2 * 1024 ** 3;

type Shape = Pick<UploadLoad, 'fileBytes' | 'files' | 'connections'>;

/** One large file alone, and several at once. */
const shapes: Record<string, Shape> = {
  'one 256 MB file': { fileBytes: 256 << 20, files: 1, connections: 1 },
  '8 at once, 16 MB': { fileBytes: 16 << 20, files: 24, connections: 8 },
};

export const upload: Row = {
  name: 'upload',
  what: 'POST files, encrypted and sealed, against a bare route that hashes and writes them; memory at 2 GB',
  async measure(fixture) {
    const uploader = await fixture.keep(startUploader);
    const service = await openService(fixture);
    const peer = await fixture.keep(async () => startUploadPeer(await fixture.newDirectory()));
    const toPeer: Target = {
      url: peer.url,
      path: '/files',
      headers: {},
      fields: {},
      processes: async () => ({ service: [peer.pid] }),
    };
    const { comparisons, details } = await play(fixture, uploader, {
      peer: toPeer,
      holdfast: service.target,
    });

    const { processes: _, ...target } = service.target;
    await uploader.run({ ...target, fileBytes: largeBytes, files: 1, connections: 1 });
    const peakMb = await service.peakMemoryMb();
    console.error(`  2 GB: the service took ${peakMb.toFixed(0)} MB at its peak`);
    const memory: Comparison = {
      figure: 'peak at 2 GB',
      peer: null,
      holdfast: { value: peakMb, unit: 'MB', p99Ms: null },
      ratio: null,
      toReach: `≤ ${mostMb} MB`,
      reached: peakMb <= mostMb,
    };
    await service.stop();
    const judged = comparisons.map((one) => ({
      ...one,
      toReach: `≥ ${atLeast.toFixed(1)}×`,
      reached: (one.ratio ?? 0) >= atLeast,
    }));
    return { comparisons: [...judged, memory], details };
  },
  async against({ before, now }) {
    const uploader = await now.keep(startUploader);
    const earlier = await openService(before);
    const later = await openService(now);
    const outcome = await play(now, uploader, { peer: earlier.target, holdfast: later.target });
    await earlier.stop();
    await later.stop();
    return outcome;
  },
};

interface Target extends Pick<UploadLoad, 'url' | 'path' | 'headers' | 'fields'> {
  processes(): Promise<Processes>;
}

interface Played {
  mbPerSecond: number;
  /** Megabytes. */
  operations: number;
  cpu: Spent | null;
}

/** A service of its own: the most memory that one has had is remembered from the rows before. */
async function openService(fixture: Fixture) {
  const dataDir = await fixture.newDirectory();
  const service = await fixture.keep(() => startService({ root: fixture.root, dataDir }));
  const [vaultAddress = ''] = await makeVaults(service, 1);
  const target: Target = {
    url: service.url,
    path: `${apiBase}/platform/files`,
    headers: keyHeaders(service),
    fields: { vaultAddress, name: 'bench.bin' },
    processes: () => processesOf(service),
  };
  return { target, peakMemoryMb: service.peakMemoryMb, stop: service.stop };
}

/** Each shape by itself. */
async function play(
  { turns: { rounds } }: Fixture,
  uploader: Uploader,
  targets: Record<'peer' | 'holdfast', Target>,
): Promise<Outcome> {
  async function turn({ processes, ...target }: Target, shape: Shape, kind: Turn): Promise<Played> {
    const files = kind === 'warm-up' ? shape.connections : shape.files;
    const fileBytes = kind === 'warm-up' ? 8 << 20 : shape.fileBytes;
    const spent = await watchProcesses({ ...(await processes()), client: [uploader.pid] });
    const { mbPerSecond } = await uploader.run({ ...target, ...shape, files, fileBytes });
    const { cpu } = await spent.untilRest();
    return { mbPerSecond, operations: (files * fileBytes) / 1e6, cpu };
  }

  const comparisons: Comparison[] = [];
  const details: Record<string, unknown> = {};
  for (const [figure, shape] of Object.entries(shapes)) {
    const played = await playInTurns(
      {
        peer: (kind) => turn(targets.peer, shape, kind),
        holdfast: (kind) => turn(targets.holdfast, shape, kind),
      },
      {
        rounds,
        tell: ({ peer, holdfast }) =>
          `${figure}: ${peer.mbPerSecond.toFixed(0)} MB/s, ${holdfast.mbPerSecond.toFixed(0)} MB/s, ${(holdfast.mbPerSecond / peer.mbPerSecond).toFixed(2)}×`,
      },
    );
    const sideOf = (side: 'peer' | 'holdfast'): Figure => ({
      value: median(played.map((round) => round[side].mbPerSecond)),
      unit: 'MB/s',
      p99Ms: null,
      cpuMicros: perOperation(played.map((round) => round[side])),
    });
    comparisons.push({
      figure,
      peer: sideOf('peer'),
      holdfast: sideOf('holdfast'),
      ratio: median(played.map(({ peer, holdfast }) => holdfast.mbPerSecond / peer.mbPerSecond)),
      toReach: null,
      reached: null,
    });
    details[figure] = played;
  }
  return { comparisons, details };
}
