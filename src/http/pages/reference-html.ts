/** Renders the OpenAPI document as one HTML page: every operation with its parameters, bodies and answers, and a search. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../api/plain-page.ts';

/** The part of OpenAPI that the document of this service uses. */
export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation>>;
}

interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { content?: Content; headers?: Record<string, { schema?: Schema }> }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

type Content = Record<string, { schema?: Schema; example?: unknown }>;

interface Schema {
  type?: string | string[];
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface ReferencePage {
  html: string;
  /** Allows the page's own script and style, by hash, and nothing else. */
  policy: string;
}

/** `baseUrl`: the URL in the example requests. */
export function renderReference(document: ApiDocument, baseUrl: string): ReferencePage {
  const { info, tags = [], paths = {} } = document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = tags
    .map((tag) => ({ tag, members: operations.filter(({ operation }) => operation.tags?.[0] === tag.name) }))
    .filter(({ members }) => members.length > 0);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="Every operation of the ${escapeHtml(info.title)} API">
<link rel="icon" href="/favicon.svg">
<title>${escapeHtml(info.title)} API reference</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escapeHtml(info.title)} API <small>${escapeHtml(info.version)}</small></h1>
<p>${prose(info.description ?? '')}</p>
<p>Send your API key in the header <code>x-api-key</code>. The error codes are explained under <a href="/docs/errors">errors</a>;
the reference for programs is <a href="/openapi.json">openapi.json</a>. Guides are in the <a href="/docs/">documentation</a>.</p>
<p><label for="search">Search</label> <input id="search" type="search" autocomplete="off" placeholder="vault, POST, webhooks …">
<output id="count" for="search">${operations.length} operations</output></p>
<nav aria-label="Topics">${sections.map(({ tag }) => `<a href="#${slug(tag.name)}">${escapeHtml(tag.name)}</a>`).join(' ')}</nav>
</header>
<main>
${sections
  .map(
    ({ tag, members }) => `<section id="${slug(tag.name)}">
<h2>${escapeHtml(tag.name)}</h2>
<p>${prose(tag.description ?? '')}</p>
${members.map((member) => renderOperation(member, baseUrl)).join('\n')}
</section>`,
  )
  .join('\n')}
</main>
<script>${script}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, policy };
}

interface Member {
  path: string;
  method: string;
  operation: Operation;
}

function renderOperation({ path, method, operation }: Member, baseUrl: string): string {
  const { summary = '', description, parameters = [], requestBody, responses = {}, deprecated } = operation;
  const parts = [
    description === undefined ? '' : `<p>${prose(description)}</p>`,
    parameters.length === 0 ? '' : `<h3>Parameters</h3><ul>${parameters.map(renderParameter).join('')}</ul>`,
    ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
      renderBody(`Body, ${type}${requestBody?.required ? '' : ', optional'}`, schema),
    ),
    ...Object.entries(responses)
      // All errors have the same format.
      .filter(([status]) => !/^[45]/.test(status))
      .map(([status, answer]) => renderAnswer(status, answer)),
    `<h3>Example</h3><pre tabindex="0">${escapeHtml(requestOf({ path, method, operation }, baseUrl))}</pre>`,
  ];
  return `<details id="${slug(`${method} ${path}`)}">
<summary><b class="${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(summary)}${deprecated ? ' (deprecated)' : ''}</summary>
${parts.join('')}
</details>`;
}

function renderParameter({ name, in: place, required = false, description, schema = {} }: Parameter): string {
  return renderField(
    name,
    { ...schema, ...(description !== undefined && { description }) },
    { required, place },
  );
}

function renderBody(title: string, schema: Schema | undefined): string {
  return `<h3>${escapeHtml(title)}</h3>${schema === undefined ? '' : renderSchema(schema)}`;
}

function renderAnswer(
  status: string,
  { content = {}, headers = {} }: NonNullable<Operation['responses']>[string],
): string {
  const bodies = Object.entries(content).map(
    ([type, { schema, example }]) => renderBody(`Answer ${status}, ${type}`, schema) + renderExample(example),
  );
  const named = Object.entries(headers).map(([name, { schema = {} }]) =>
    renderField(name, schema, { required: true, place: 'header' }),
  );
  const title = bodies.length === 0 ? `<h3>Answer ${escapeHtml(status)}</h3>` : '';
  return `${title}${bodies.join('')}${named.length === 0 ? '' : `<ul>${named.join('')}</ul>`}`;
}

/** Its fields, or its type if it has none. */
function renderSchema(schema: Schema): string {
  const fields = fieldsOf(schema);
  if (fields === null)
    return `<p><i>${escapeHtml(describeType(schema))}</i> ${prose(schema.description ?? '')}</p>`;
  const outer = describeType(schema) === 'object' ? '' : `<p><i>${escapeHtml(describeType(schema))}</i></p>`;
  return `${outer}${fields}`;
}

function fieldsOf({ properties, items, required = [], anyOf, oneOf }: Schema): string | null {
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const rows = Object.entries(properties).map(([name, field]) =>
      renderField(name, field, { required: required.includes(name) }),
    );
    return `<ul>${rows.join('')}</ul>`;
  }
  if (items !== undefined) return fieldsOf(items);
  const choices = (anyOf ?? oneOf ?? []).map(fieldsOf).filter((fields) => fields !== null);
  return choices.length === 0 ? null : choices.join('<p>or</p>');
}

function renderField(
  name: string,
  schema: Schema,
  { required, place }: { required: boolean; place?: string },
): string {
  const notes = [place, describeType(schema), required ? 'required' : null].filter((note) => note != null);
  return `<li><code>${escapeHtml(name)}</code> <i>${escapeHtml(notes.join(' · '))}</i> ${prose(schema.description ?? '')}${fieldsOf(schema) ?? ''}</li>`;
}

function describeType(schema: Schema): string {
  const { type, format, items, anyOf, oneOf, minLength, maxLength, minimum, maximum, maxItems } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(', ')}`;
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(describeType))].join(' or ');
  const kind = type === undefined ? 'any value' : [type].flat().join(' or ');
  const notes = [
    format ?? null,
    items === undefined ? null : `of ${describeType(items)}`,
    boundsOf(minLength, maxLength, ' characters'),
    boundsOf(minimum, maximum, ''),
    maxItems === undefined ? null : `at most ${maxItems}`,
    schema.default === undefined ? null : `else ${JSON.stringify(schema.default)}`,
  ].filter((note) => note !== null);
  return [kind, ...notes].join(' · ');
}

function boundsOf(least: number | undefined, most: number | undefined, unit: string): string | null {
  if (least === undefined && most === undefined) return null;
  if (most === undefined) return `at least ${least}${unit}`;
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`;
}

function renderExample(example: unknown): string {
  if (example === undefined) return '';
  return `<pre tabindex="0">${escapeHtml(JSON.stringify(example, null, 2))}</pre>`;
}

/** A curl command with the examples of everything that is required. */
function requestOf({ path, method, operation }: Member, baseUrl: string): string {
  const { parameters = [], requestBody, security } = operation;
  const json = requestBody?.content['application/json'];
  const given = new Map(parameters.map(({ name, example }) => [name, encodeURIComponent(String(example))]));
  const named = path.replace(/\{(\w+)\}/g, (whole, name) => given.get(name) ?? whole);
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }) => `${name}=${given.get(name)}`);
  const url = [`${baseUrl}${named}`, ...(query.length > 0 ? [query.join('&')] : [])].join('?');
  const lines = [`curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${url}'`];
  if (security?.some((way) => 'apiKey' in way)) lines.push("-H 'x-api-key: YOUR-KEY'");
  if (json) {
    const body = JSON.stringify(json.example, null, 2).replaceAll("'", "'\\''");
    lines.push("-H 'content-type: application/json'", `-d '${body}'`);
  }
  return lines.join(' \\\n  ');
}

/** Text of the document, with backquoted parts as code. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const style = `
:root { color-scheme: light dark; --back: #fff; --text: #1b1e24; --faint: #555b66; --line: #d5d9e0; --link: #0b57d0; font: 16px/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --back: #16181d; --text: #e8eaee; --faint: #a9b0bc; --line: #3a3f49; --link: #9ecaff; } }
html { background: var(--back); color: var(--text); }
a { color: var(--link); }
body { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 small { font-weight: 400; font-size: 1rem; }
h2 { margin: 2rem 0 0; text-transform: capitalize; }
h3 { font-size: .95rem; margin: 1rem 0 .25rem; }
p { margin: .4rem 0; }
nav a { display: inline-block; margin-right: .75rem; padding: .2rem 0; }
input { font: inherit; width: min(24rem, 100%); padding: .35rem .5rem; }
details { border-top: 1px solid var(--line); padding: .5rem 0; content-visibility: auto; contain-intrinsic-size: auto 2.75rem; }
summary { cursor: pointer; padding: .25rem 0; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4rem; font-family: ui-monospace, monospace; }
ul { margin: .2rem 0; padding-left: 1.25rem; }
li { margin: .2rem 0; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); }
i { font-style: normal; color: var(--faint); }
[hidden] { display: none; }
`;

/** Filters by every word of the search, and opens the operation named in the URL. */
const script = `
const search = document.getElementById('search'), count = document.getElementById('count');
const operations = [...document.querySelectorAll('details')];
const texts = operations.map((one) => one.textContent.toLowerCase());
function filter() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  operations.forEach((one, place) => {
    one.hidden = !words.every((word) => texts[place].includes(word));
    if (!one.hidden) shown += 1;
  });
  for (const section of document.querySelectorAll('section'))
    section.hidden = !section.querySelector('details:not([hidden])');
  count.textContent = shown + (shown === 1 ? ' operation' : ' operations');
}
function open() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.tagName === 'DETAILS') named.open = true;
}
search.addEventListener('input', filter);
addEventListener('hashchange', open);
open();
`;
