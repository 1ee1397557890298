/** The clients are folders of the checkout, linked from node_modules: Next.js must look for files there too. */
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '../..');

export default {
  outputFileTracingRoot: checkout,
  turbopack: { root: checkout },
  poweredByHeader: false,
};
