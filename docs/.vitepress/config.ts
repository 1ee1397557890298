/** The documents as a site: built with VitePress when the package is installed, and served at /docs/ by the service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { githubAnchor, linesAreRead, linksStayInside, tabsAreNumbered } from './markdown.ts';
import { sidebar } from './sidebar.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

export default defineConfig({
  title: 'Holdfast',
  titleTemplate: ':title · Holdfast',
  description:
    'Self-hosted evidence: vaults, files, records and maintenance that anyone can check, and webhooks that arrive.',
  lang: 'en',
  base: '/docs/',
  cleanUrls: true,
  srcExclude: ['generator/**', 'architecture.md', 'dependencies.md'],
  // Pages of the service that are not documents.
  ignoreDeadLinks: [/^\/(api|errors|verify)$/],
  // What the OpenAPI document says has this address.
  rewrites: { 'api.md': 'requests.md' },
  // The index of the search is in the order in which pages are read: one by one, it is the same each time.
  buildConcurrency: 1,
  vite: { esbuild: { target: 'es2022' } },
  // Without it each page has a script of its own, which a strict policy would have to name.
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', href: '/docs/favicon.svg', type: 'image/svg+xml' }],
    ['meta', { name: 'theme-color', content: '#0b7a75' }],
  ],
  // The first page has no landmark of its own; the theme does the same when it is reached from another page.
  transformHtml: (html) => html.replace('<div class="VPHome"', '<div class="VPHome" role="main"'),
  markdown: {
    anchor: { slugify: githubAnchor },
    config(markdown) {
      linksStayInside(markdown);
      tabsAreNumbered(markdown);
    },
    codeTransformers: [linesAreRead],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: '/favicon.svg',
    search: { provider: 'local' },
    nav: [
      { text: 'Quick start', link: '/guide/quick-start' },
      { text: 'Concepts', link: '/guide/concepts' },
      { text: 'API reference', link: '/api', target: '_self' },
      { text: `Version ${version}`, link: '/releases' },
    ],
    sidebar,
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
  },
});
