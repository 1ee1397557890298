/** Static pages without scripts: the list of errors, and the page for unknown addresses. */
import type { FastifyReply } from 'fastify';

export interface PlainPage {
  title: string;
  /** As HTML. */
  body: string;
}

export function sendPlainPage(reply: FastifyReply, { title, body }: PlainPage): FastifyReply {
  return reply
    .header(
      'content-security-policy',
      "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/favicon.svg">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.75rem; }
  h2 { font-size: 1.1rem; margin: 0 0 .25rem; }
  h2 a { color: inherit; text-decoration: none; }
  h2 a:hover { text-decoration: underline; }
  small { font-weight: 400; opacity: .75; margin-left: .4rem; }
  p { margin: 0 0 1rem; }
  section { padding: 1rem; margin: 0 -1rem; border-radius: .5rem; scroll-margin-top: 1rem; }
  section:target { background: color-mix(in srgb, currentColor 9%, transparent); }
  section p { margin: 0; }
</style>
</head>
<body>
${body}
</body>
</html>
`);
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
