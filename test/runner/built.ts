/** Builds the dashboard and the site of the documents again when their sources have changed: old ones would be tested. */
import { site } from '../../docs/build.ts';
import { buildIfChanged } from '../../src/http/pages/built-folder.ts';
import { dashboard } from '../../src/http/pages/dashboard-build.ts';
import { readsSite } from './tiers.ts';

/** Before the files begin, so that nobody reads what another one replaces. Few of them read the site, which takes longer. */
export async function refreshBuilt(files: string[]): Promise<void> {
  await buildIfChanged(dashboard);
  if (files.some(readsSite)) await buildIfChanged(site);
}
