/** The page that every docUrl leads to: one entry per error code. */
import { errorKinds } from '../errors.ts';
import type { Api } from './api.ts';
import { errorPagePath } from './error-reply.ts';

export function errorPage(app: Api): void {
  const html = render();
  app.get(errorPagePath, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      )
      .type('text/html; charset=utf-8')
      .send(html),
  );
}

function render(): string {
  const entries = Object.entries(errorKinds).map(
    ([code, { status, meaning }]) =>
      `<section id="${code}"><h2><a href="#${code}"><code>${code}</code></a> <small>${status}</small></h2><p>${meaning}</p></section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Holdfast errors</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.75rem; }
  h2 { font-size: 1.1rem; margin: 0 0 .25rem; }
  h2 a { color: inherit; text-decoration: none; }
  h2 a:hover { text-decoration: underline; }
  small { font-weight: 400; opacity: .65; margin-left: .4rem; }
  p { margin: 0; }
  section { padding: 1rem; margin: 0 -1rem; border-radius: .5rem; scroll-margin-top: 1rem; }
  section:target { background: color-mix(in srgb, currentColor 9%, transparent); }
</style>
</head>
<body>
<h1>Errors</h1>
<p>Every error is <code>{message, errorCode, docUrl, timestamp}</code>. The message says what was wrong with this one
request; below is what each code means and what to do. See also the <a href="/docs">API reference</a>.</p>
${entries.join('\n')}
</body>
</html>
`;
}
