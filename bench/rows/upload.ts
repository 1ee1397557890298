/** `upload`: files against a bare route that hashes and writes the same stream; and the memory that 2 GB take. */
import { apiBase } from '../../src/http/api/api.ts';
import { waitForRest } from '../cpu-time.ts';
import type { Comparison, Row } from '../row.ts';
import { keyHeaders, startService } from '../service.ts';
import { median, playInTurns, type Turn } from '../turns.ts';
import { startUploader, startUploadPeer, type UploadLoad } from '../upload.ts';
import { makeVaults } from '../vaults.ts';

const rounds = 3;
const atLeast = 0.7;
const mostMb = 300;
const largeBytes = 2 * 1024 ** 3;

/** One large file alone, and several at once. */
const shapes = {
  'one 256 MB file': { fileBytes: 256 << 20, files: 1, connections: 1 },
  '8 at once, 16 MB': { fileBytes: 16 << 20, files: 24, connections: 8 },
} as const;

export const upload: Row = {
  name: 'upload',
  what: 'POST files, encrypted and sealed, against a bare route that hashes and writes them; memory at 2 GB',
  async measure(fixture) {
    // A service of its own: the most memory that one has had is remembered from the rows before.
    const dataDir = await fixture.newDirectory();
    const service = await fixture.keep(() => startService({ dataDir }));
    const peer = await fixture.keep(async () => startUploadPeer(await fixture.newDirectory()));
    const uploader = await fixture.keep(startUploader);
    const [vaultAddress = ''] = await makeVaults(service, 1);
    const toHoldfast = {
      url: service.url,
      path: `${apiBase}/platform/files`,
      headers: keyHeaders(service),
      fields: { vaultAddress, name: 'bench.bin' },
    };
    const toPeer = { url: peer.url, path: '/files', headers: {}, fields: {} };

    async function turn(load: UploadLoad, kind: Turn) {
      const files = kind === 'warm-up' ? load.connections : load.files;
      const fileBytes = kind === 'warm-up' ? 8 << 20 : load.fileBytes;
      const { mbPerSecond } = await uploader.run({ ...load, files, fileBytes });
      await waitForRest();
      return mbPerSecond;
    }

    const comparisons: Comparison[] = [];
    const details: Record<string, unknown> = {};
    for (const [figure, shape] of Object.entries(shapes)) {
      const played = await playInTurns(
        {
          peer: (kind) => turn({ ...toPeer, ...shape }, kind),
          holdfast: (kind) => turn({ ...toHoldfast, ...shape }, kind),
        },
        {
          rounds,
          tell: ({ peer, holdfast }) =>
            `${figure}: peer ${peer.toFixed(0)} MB/s, Holdfast ${holdfast.toFixed(0)} MB/s, ${(holdfast / peer).toFixed(2)}×`,
        },
      );
      const ratio = median(played.map(({ peer, holdfast }) => holdfast / peer));
      comparisons.push({
        figure,
        peer: { value: median(played.map(({ peer }) => peer)), unit: 'MB/s', p99Ms: null },
        holdfast: { value: median(played.map(({ holdfast }) => holdfast)), unit: 'MB/s', p99Ms: null },
        ratio,
        toReach: `≥ ${atLeast.toFixed(1)}×`,
        reached: ratio >= atLeast,
      });
      details[figure] = played;
    }

    await uploader.run({ ...toHoldfast, fileBytes: largeBytes, files: 1, connections: 1 });
    const peakMb = await service.peakMemoryMb();
    console.error(`  2 GB: the service took ${peakMb.toFixed(0)} MB at its peak`);
    comparisons.push({
      figure: 'peak at 2 GB',
      peer: null,
      holdfast: { value: peakMb, unit: 'MB', p99Ms: null },
      ratio: null,
      toReach: `≤ ${mostMb} MB`,
      reached: peakMb <= mostMb,
    });
    await service.stop();
    return { comparisons, details };
  },
};
