/** The anvil that a node of the service runs below its data directory, found by its pid file. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processExists } from '../../src/db/embedded/postmaster.ts';
import { processesMentioning, waitUntil } from '../support/service/process.ts';

export interface EmbeddedSide {
  url(): Promise<string>;
  /** kill -9; returns once it is gone. Does nothing where none runs. */
  kill(): Promise<void>;
}

export function embeddedSide(dataDir: string): EmbeddedSide {
  const chains = join(dataDir, 'chain');

  async function find(): Promise<{ pid: number; port: number } | null> {
    const names = await readdir(chains).catch(() => []);
    for (const name of names) {
      const text = await readFile(join(chains, name, 'anvil.json'), 'utf8').catch(() => '');
      if (text === '') continue;
      const record: { pid: number; port: number } = JSON.parse(text);
      const isOurs = processesMentioning(chains).some((line) => line.includes(` --port ${record.port} `));
      if (isOurs && processExists(record.pid)) return record;
    }
    return null;
  }

  return {
    url: async () => `http://127.0.0.1:${(await waitUntil(find)).port}`,
    async kill() {
      const found = await find();
      if (!found) return;
      // Where the program is a script that starts another, both have to go.
      process.kill(-found.pid, 'SIGKILL');
      await waitUntil(
        () => !processesMentioning(chains).some((line) => line.includes(` --port ${found.port} `)),
      );
    },
  };
}
