/** A real timestamp authority: openssl-authority.sh, which the documentation shows, run in a directory of its own. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathOf } from '../programs/needs.ts';

export interface OpensslAuthority {
  url: string;
  /** The root to pin. */
  rootPem: string;
  close(): Promise<void>;
}

const script = join(import.meta.dirname, 'openssl-authority.sh');

/** Makes keys and certificates in `directory`, and answers on a free port by running `openssl ts -reply`. */
export async function startOpensslAuthority(directory: string): Promise<OpensslAuthority> {
  const folders = [dirname(process.execPath), dirname(pathOf('openssl')), process.env.PATH];
  const child = spawn('sh', ['-e', script], {
    cwd: directory,
    // The script runs node, which need not be on the path, and openssl.
    env: { ...process.env, PORT: '0', PATH: folders.join(':') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => resolve(String(chunk).trim()));
    child.on('close', () => reject(new Error(`openssl-authority.sh ended: ${errors}`)));
  });
  return {
    url,
    rootPem: readFileSync(join(directory, 'root.pem'), 'utf8'),
    async close() {
      child.kill();
      await ended;
    },
  };
}
