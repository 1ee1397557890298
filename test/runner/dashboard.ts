/** Bundles the dashboard again when its sources have changed: a browser would be tested with an old one. */
import { buildIfChanged } from '../../src/http/pages/built-folder.ts';
import { dashboard } from '../../src/http/pages/dashboard-build.ts';

export async function refreshDashboard(): Promise<void> {
  await buildIfChanged(dashboard);
}
