/** What npm runs at the end of an installation: makes the pages of the dashboard and of the documents, side by side. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildIfChanged } from '../src/http/pages/built-folder.ts';
import { dashboard } from '../src/http/pages/dashboard-build.ts';

const script = join(import.meta.dirname, '../docs/build.ts');
const site = once(spawn(process.execPath, [script], { stdio: 'inherit' }), 'exit');
await buildIfChanged(dashboard);
const [code] = await site;
if (code !== 0) throw new Error('The site of the documents could not be built.');
