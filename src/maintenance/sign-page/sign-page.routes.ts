/** The page behind the links that workers get: it registers passkeys, and signs. It needs no session; the link is the secret. */
import { join } from 'node:path';
import type { Api } from '../../http/api/api.ts';
import { bundledPage } from '../../http/pages/bundled-page.ts';
import type { PageSources } from '../../http/pages/page-bundle.ts';

/** Nothing but what this service serves, and no other page may show it in a frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const signPage: PageSources = {
  folder: join(import.meta.dirname, '../../../pages/sign'),
  entries: ['main.ts', 'sign.css'],
  assetPath: '/sign/assets',
  worker: { entry: 'worker.ts', url: '/sign/worker.js', page: '/sign/' },
};

export function signPageRoutes(app: Api): void {
  bundledPage(app, { sources: signPage, urls: ['/sign', '/sign/:token'], policy });
}
