/** The page that every docUrl links to: one entry per error code. */
import { errorKinds } from '../../runtime/errors.ts';
import type { Api } from './api.ts';
import { errorPagePath } from './error-reply.ts';
import { sendPlainPage } from './plain-page.ts';

export function errorPage(app: Api): void {
  const page = { title: 'Holdfast errors', body: describeErrors() };
  app.get(errorPagePath, { schema: { hide: true } }, async (_request, reply) => sendPlainPage(reply, page));
}

function describeErrors(): string {
  const entries = Object.entries(errorKinds).map(
    ([code, { status, meaning }]) =>
      `<section id="${code}"><h2><a href="#${code}"><code>${code}</code></a> <small>${status}</small></h2><p>${meaning}</p></section>`,
  );
  return `<h1>Errors</h1>
<p>Every error is <code>{message, errorCode, docUrl, timestamp}</code>. The message says what was wrong with the
request; this page says what each code means and what to do. See also the <a href="/docs/api">API reference</a>.</p>
${entries.join('\n')}`;
}
