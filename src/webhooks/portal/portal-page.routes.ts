/** The page behind a portal link. It needs no session; the link is the secret. */
import { join } from 'node:path';
import type { Api } from '../../http/api/api.ts';
import { bundledPage } from '../../http/pages/bundled-page.ts';
import type { PageSources } from '../../http/pages/page-bundle.ts';

/** Nothing but what this service serves, and no other page may show it in a frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const portalPage: PageSources = {
  folder: join(import.meta.dirname, '../../../pages/portal'),
  entries: ['main.ts', 'portal.css'],
  assetPath: '/portal/assets',
};

export function portalPageRoutes(app: Api): void {
  bundledPage(app, { sources: portalPage, urls: ['/portal', '/portal/:token'], policy, unlisted: true });
}
