/** The embedded chain of a node of the service: its gateway, and the process of its engine. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findGateway } from '../../src/chain/embedded/gateway-file.ts';
import { chainPaths } from '../../src/chain/embedded/paths.ts';
import { enginesOf, isEngine } from '../support/chain/engine-process.ts';
import { waitUntil } from '../support/service/process.ts';

export interface EmbeddedSide {
  url(): Promise<string>;
  /** Of the node that leads. */
  dataDir(): Promise<string>;
  /** kill -9 of the engine of this service; returns once it is gone. Does nothing where none runs. */
  kill(servicePid: number): Promise<void>;
}

/** `dataDirs`: of all nodes; the one that leads has it. */
export function embeddedSide(dataDirs: string[]): EmbeddedSide {
  async function find(): Promise<{ dataDir: string; url: string } | null> {
    for (const dataDir of dataDirs) {
      const names = await readdir(join(dataDir, 'chain')).catch(() => []);
      for (const name of names) {
        const url = await findGateway(chainPaths(dataDir, Number(name)));
        if (url !== null) return { dataDir, url };
      }
    }
    return null;
  }

  return {
    url: async () => (await waitUntil(find)).url,
    dataDir: async () => (await waitUntil(find)).dataDir,
    async kill(servicePid) {
      const engines = enginesOf(servicePid);
      for (const pid of engines) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended with its service.
        }
      }
      await waitUntil(() => !engines.some(isEngine));
    },
  };
}
