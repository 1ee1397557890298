/** Data directories of services with a long embedded chain: made once, kept in bench/cache/, handed out as copies. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startAnchoring } from './anchoring.ts';
import type { Fixture } from './fixture.ts';
import { beginChain, growChain } from './grow-chain.ts';
import { holdfastDatabase, joinPostgres, type Postgres } from './postgres.ts';

const root = resolve(import.meta.dirname, '..');
const cache = join(import.meta.dirname, 'cache');
/** A size is grown on top of the largest one that is smaller. */
const steps = [0, 1_000, 10_000, 100_000];
/** What decides how such a directory looks. */
const sources = ['migrations/*.sql', 'src/chain/embedded/{engine,results}/*.ts'];
/** Of 100,000 blocks, on a busy machine. */
const longestIndexingMs = 1_800_000;

/** A copy to be used up, of a service that was stopped. Takes long when there is none in the cache. */
export async function copyGrownChain(anchors: number, fixture: Fixture): Promise<string> {
  const kept = join(cache, `chain-${anchors}-${await fingerprint()}`);
  if (!(await exists(kept))) await make(anchors, kept, fixture);
  const dataDir = await fixture.newDirectory();
  await copy(kept, dataDir);
  return dataDir;
}

/** Waits until the service knows all blocks of its chain. */
export async function waitForIndex(postgres: Postgres): Promise<void> {
  for (const deadline = Date.now() + longestIndexingMs; ; await sleep(200)) {
    const [row] = await postgres.query<{ missing: number }>(
      holdfastDatabase,
      `select ((select max(number) from embedded_chain_blocks)
               - coalesce((select max(number) from chain_blocks), -1))::int as missing`,
    );
    if (row?.missing === 0) return;
    if (Date.now() > deadline) throw new Error(`${row?.missing} blocks are not indexed`);
  }
}

async function make(anchors: number, kept: string, fixture: Fixture): Promise<void> {
  const base = steps.findLast((step) => step < anchors);
  const dataDir = base === undefined ? await fixture.newDirectory() : await copyGrownChain(base, fixture);
  console.error(`  making a chain with ${anchors.toLocaleString('en')} anchors, once`);
  const interruption = new AbortController();
  const growing =
    base === undefined ? beginChain(dataDir) : growChain(dataDir, anchors - base, interruption.signal);
  // So that an interruption waits until its PostgreSQL is stopped.
  const stop = async () => {
    interruption.abort();
    await growing.catch(() => {});
  };
  await fixture.keep(async () => ({ stop }));
  await growing;

  const service = await fixture.keep(() => startAnchoring(dataDir));
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  await waitForIndex(postgres);
  await postgres.stop();
  await service.stop();

  const draft = `${kept}.${process.pid}.new`;
  await mkdir(cache, { recursive: true });
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await copy(dataDir, draft);
  await rm(dataDir, { recursive: true });
  await rename(draft, kept).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    // Another run has made the same meanwhile.
    await rm(draft, { recursive: true });
  });
}

/** With owners and modes, as PostgreSQL needs them. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', `${from}/.`, to]);
}

let known: Promise<string> | null = null;

/** Of the start of this process: whoever edits the sources meanwhile gets another one next time. */
function fingerprint(): Promise<string> {
  known ??= readSources();
  return known;
}

async function readSources(): Promise<string> {
  const hash = createHash('sha256');
  const files = globSync(sources, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  for (const file of files.sort()) hash.update(`${file}\n`).update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 12);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
