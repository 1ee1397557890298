/** Bundles the dashboard again when its sources are newer than the bundle: a browser would be tested with an old one. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildDashboard, dashboardFolder } from '../../src/http/pages/dashboard-build.ts';

export async function refreshDashboard(): Promise<void> {
  const built = statSync(join(dashboardFolder, 'dist/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(dashboardFolder, 'src'), { recursive: true, encoding: 'utf8' });
  const isNewer = (name: string) => statSync(join(dashboardFolder, name)).mtimeMs > built;
  if (isNewer('index.html') || sources.some((name) => isNewer(join('src', name)))) await buildDashboard();
}
