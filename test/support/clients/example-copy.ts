/** Starts an example with the command of its README, in a copy of the checkout, so that nothing is installed in this one. */
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathWithPrograms } from '../programs/needs.ts';
import { type RunningProcess, type Settings, startUntil } from '../service/process.ts';

const root = join(import.meta.dirname, '../../..');
/** Packages are downloaded and built. */
const longestStartMs = 800_000;

export function copyExample(name: string, scratch: string): string {
  const checkout = mkdtempSync(join(scratch, 'checkout-'));
  mkdirSync(join(checkout, 'examples'));
  const filter = (source: string) => !/\/(dist|node_modules|\.venv|\.next)$/.test(source);
  // What is built refers to other files by where they really are.
  for (const path of ['clients', 'verifiers', 'src', `examples/${name}`, 'tsconfig.json'])
    cpSync(join(root, path), join(checkout, path), { recursive: true, filter });
  for (const path of ['node_modules', 'docs', 'pages', 'package.json'])
    symlinkSync(join(root, path), join(checkout, path));
  return join(checkout, 'examples', name);
}

/** `command`: from the folder of the example. With the pinned Node.js, as after `npm ci`. */
export function startExample(
  folder: string,
  command: string,
  { ready, settings }: { ready: RegExp; settings: Settings },
): Promise<{ running: RunningProcess; match: RegExpExecArray }> {
  const PATH = [join(root, 'node_modules/.bin'), pathWithPrograms()].join(delimiter);
  // Where and how this machine reaches the registry.
  const registry = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_registry|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name),
  );
  return startUntil(ready, {
    program: 'sh',
    args: ['-c', `cd '${folder}' && exec ${command}`],
    settings: {
      ...(Object.fromEntries(registry) as Settings),
      ...settings,
      PATH,
      HOLDFAST_TEST_PACKAGES: '',
      NODE_OPTIONS: '',
    },
    startMs: longestStartMs,
  });
}
