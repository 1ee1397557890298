/** The commands of the guides, run as they are written against a service, one page after the other. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');
const guides = join(root, 'docs/guide');
const pages = globSync('*.md', { cwd: guides }).filter((page) => commandsOf(page) !== '');

let service: Service;

before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(() => service?.close());

/** Those of blocks that are marked as runnable, together, because later ones use variables of earlier ones. */
function commandsOf(page: string): string {
  const source = readFileSync(join(guides, page), 'utf8');
  return [...source.matchAll(/^```sh \[(?:curl|holdfast)\]\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block)
    .join('\n');
}

for (const page of pages) {
  test(`every command of ${page} does what the page says`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-guide-'));
    t.after(() => rm(folder, { recursive: true }));
    const { status, output } = await run(commandsOf(page), folder);
    assert.equal(status, 0, output);
  });
}

test('five guides have commands', () => {
  assert.ok(pages.length >= 5, pages.join());
});

async function run(script: string, cwd: string): Promise<{ status: number | null; output: string }> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: {
      PATH: `${join(root, 'bin')}:${process.env.PATH}`,
      HOLDFAST_URL: service.url,
      HOLDFAST_API_KEY: service.key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const ended = new Promise<number | null>((resolve) => shell.once('close', resolve));
  const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  return { status: await ended, output: `${out}\n${errors}` };
}
