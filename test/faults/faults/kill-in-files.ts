/** kill -9 of the service at named points in the life of a file. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openUpload } from '../../support/clients/upload.ts';
import { createAsking } from '../asking.ts';
import { onNextCommit } from '../commits.ts';
import { bytesOf, contentOf } from '../content.ts';
import { createCustodyMaker } from '../custody-load.ts';
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import { createFileMaker, filesPath } from '../file-load.ts';
import type { Fixture } from '../fixture.ts';
import { atGates, type Gate } from '../gates.ts';
import { blobDir } from '../nodes.ts';
import type { Random } from '../random.ts';
import { makeThing } from '../thing-load.ts';
import { expectNone } from '../violation.ts';

const mebibyte = 1 << 20;

/** The object is half written; sent again with its key the file is there once. */
export const killDuringUpload: Fault = {
  name: 'kill -9 during the body of an upload',
  strike: (fixture, random) => cutUpload(fixture, random, []),
};

/** All at once, for a run that has to be short. */
export const killAmidFiles: Fault = {
  name: 'kill -9 during an upload, during a validation, and between a confirmation and its transfer',
  strike: (fixture, random) => cutUpload(fixture, random, ['validation_completed', 'transfer_completed']),
};

async function cutUpload(fixture: Fixture, random: Random, names: Gate[]): Promise<void> {
  const { nodes, store, client, journal, key, home, count } = fixture;
  const run = random.between(0, 1e9);
  let made = 0;
  const newName = (kind: string) => `${kind}-cut-${run}-${++made}`;
  const deps = { asking: createAsking(client, journal), journal, random, newName };
  const vault = await makeThing(deps, 'vault');
  const files = createFileMaker(deps);
  const content = contentOf(newName('bytes'), 4 * mebibyte);
  const entry = files.plan(vault, content);
  const victim = nodes.first();
  const { pid } = victim.service.child;

  async function kill(): Promise<void> {
    const upload = openUpload({ url: victim.service.url, key }, `/api-v1${filesPath}`, {
      fields: { vaultAddress: vault.address, name: entry.name },
      headers: { 'idempotency-key': entry.name },
    });
    await upload.send(bytesOf(content).subarray(0, 3 * mebibyte));
    const written = async () => (await partBytes(home, pid)) >= mebibyte;
    await expectSoon('a part of the upload is written', written);
    await nodes.kill(victim);
    upload.cut();
  }

  /** A file to validate and to hand on: the load may have neither for long. */
  async function bring(): Promise<void> {
    const vaults = [vault, await makeThing(deps, 'vault')];
    await files.create(vault);
    const custody = createCustodyMaker(deps, files);
    await custody.validate(vaults);
    await custody.transfer(vaults);
  }

  await (names.length === 0 ? kill() : atGates(store, { names, bring, act: kill }));
  entry.lost += 1;
  count('service killed');
  count('killed during an upload');
  for (const name of names) count(counted[name]);
  await nodes.startFirst();
  expectNone(
    'files of an upload that was cut off',
    await store.query('select file_id from file_versions where name = $1', [entry.name]),
  );
  const removed = async () => (await partBytes(home, pid)) === 0;
  await expectSoon('what was left of it is removed', removed);
  await files.send(entry);
}

const counted: Record<Gate, string> = {
  blob_attached: 'killed between object and commit',
  validation_completed: 'killed during a validation',
  transfer_completed: 'killed between confirmation and transfer',
};

/** What lies in the store belongs to nobody, and is left to the sweep. */
export const killBeforeAttached = killAtGate(
  'blob_attached',
  'kill -9 when an object is stored and its file is not committed',
);
export const killBeforeResult = killAtGate(
  'validation_completed',
  'kill -9 when a validation is made and its result is not committed',
);
export const killBeforeTransfer = killAtGate(
  'transfer_completed',
  'kill -9 when a transfer is confirmed and the file has not moved',
);

/** The answer is on its way, or never was. */
export const killWhenFileStored: Fault = {
  name: 'kill -9 when a file is committed',
  async strike({ nodes, store, count }) {
    const victim = nodes.first();
    await onNextCommit(store, { commit: 'file_stored', act: () => nodes.kill(victim) });
    count('service killed');
    count('killed when a file was committed');
    await nodes.startFirst();
  },
};

function killAtGate(gate: Gate, name: string): Fault {
  return {
    name,
    async strike({ nodes, store, count }) {
      const victim = nodes.first();
      await atGates(store, { names: [gate], act: () => nodes.kill(victim) });
      count('service killed');
      count(counted[gate]);
      await nodes.startFirst();
    },
  };
}

/** Of the largest file that this process has not finished; 0 when there is none. */
async function partBytes(home: string, pid: number | undefined): Promise<number> {
  const dir = blobDir(home);
  const names = await readdir(dir, { recursive: true });
  const parts = names.filter((name) => new RegExp(`-${pid}-\\d+\\.part$`).test(name));
  const sizes = await Promise.all(
    parts.map((name) =>
      stat(join(dir, name)).then(
        // Also an empty one is there.
        ({ size }) => Math.max(size, 1),
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...sizes);
}
