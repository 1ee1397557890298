/** Makes what browsers need of the dashboard: runs when the package is installed, and again when that was left out. */
import { buildDashboard } from '../src/http/pages/dashboard-build.ts';

const { files, bytes } = await buildDashboard();
console.log(`dashboard: ${files} files, ${Math.round(bytes / 1024)} KB`);
