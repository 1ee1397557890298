/** The page that browsers get for an unknown address. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml, sendPlainPage } from './plain-page.ts';

export function sendNoPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = '/'] = request.url.split('?', 1);
  const body = `<h1>Page not found</h1>
<p>There is nothing at <code>${escapeHtml(path.slice(0, 200))}</code>. The link may be out of date, or the address mistyped.</p>
<p><a href="/">Go to the dashboard</a> · <a href="/docs/">Documentation</a> · <a href="/verify">Verify a proof</a></p>`;
  return sendPlainPage(reply.code(404), { title: 'Page not found · Holdfast', body });
}
