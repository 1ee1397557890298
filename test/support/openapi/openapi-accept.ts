/**
 * `npm run openapi:accept`: writes the document of this checkout to docs/openapi.json, with which later ones are
 * compared, and what the clients generate from it. Rejects changes that break clients unless `--breaking` is given: within
 * api-v1 there are only additions.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { clientFiles } from '../../../clients/generator/files.ts';
import { createApp } from '../../../src/app/app.ts';
import { readConfig } from '../../../src/config/config.ts';
import { compareDocuments, type Json } from './openapi-compatibility.ts';

const root = join(import.meta.dirname, '../../..');
const file = join(root, 'docs/openapi.json');

const current = await readDocument();
const accepted = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : null;
const { breaks, differs } = accepted ? compareDocuments(accepted, current) : { breaks: [], differs: true };

if (breaks.length > 0 && !process.argv.includes('--breaking')) {
  console.error(`This breaks clients, so docs/openapi.json stays as it is:\n${list(breaks)}`);
  console.error(
    'Keep the old form beside the new one, or accept it with "npm run openapi:accept -- --breaking".',
  );
  process.exitCode = 1;
} else {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(current, null, 2)}\n`);
  for (const [path, text] of Object.entries(await clientFiles(current)))
    await writeFile(join(root, path), text);
  console.log(differs ? 'docs/openapi.json is written.' : 'docs/openapi.json was up to date.');
}

/** The document of a service on a temporary embedded database. */
async function readDocument(): Promise<Json> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-openapi-'));
  try {
    const app = await createApp(readConfig({ HOLDFAST_DATA_DIR: dataDir }), pino({ level: 'silent' }));
    try {
      const { servers: _, ...document } = (await app.server.http.inject('/openapi.json')).json();
      return document;
    } finally {
      await app.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

function list(lines: string[]): string {
  return lines.map((line) => `  - ${line}`).join('\n');
}
