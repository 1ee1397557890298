/** A published page as HTML: complete without a script, and nothing in it but what is shown. */
import { dateAndTime } from '../../holdings/certificates/certificate-words.ts';
import type { Fact, ShownEntry, ShownPage, ShownSignoff } from './shown.ts';

export interface PageParts {
  title: string;
  /** HTML. */
  main: string;
}

interface PageOptions {
  /** The path of the page. */
  base: string;
  /** It begins with the latest entries. */
  isFirst: boolean;
  /** The operator of the service can set the clock of its chain. */
  development: boolean;
}

export function pageHtml(page: ShownPage, { base, isFirst, development }: PageOptions): PageParts {
  const { name, facts, until, entries } = page;
  const title = name || 'Asset';
  return {
    title: escaped(title),
    main: [
      `<h1>${escaped(title)}</h1>`,
      listOf(facts),
      development && entries?.items.some(({ check }) => check?.sealedAt)
        ? '<p class="badge warn">Development evidence: the chain of this service is for development, so its times are no evidence for anyone else.</p>'
        : '',
      entries ? entriesHtml(entries, { base, isFirst }) : '',
      `<footer><p class="soft">The owner of this asset publishes this page until ${time(until)} and has chosen what it shows. There may be more that it does not show.</p></footer>`,
    ].join('\n'),
  };
}

export const noPageParts: PageParts = {
  title: 'No page here',
  main: `<h1>There is no page here</h1>
<p>The address may be mistyped, or its owner no longer publishes a page at it. Ask the owner of the asset for a new link.</p>`,
};

function entriesHtml(
  { items, next }: NonNullable<ShownPage['entries']>,
  { base, isFirst }: { base: string; isFirst: boolean },
): string {
  const more = [
    isFirst ? '' : `<a href="${escaped(base)}">Latest entries</a>`,
    next === null ? '' : `<a href="${escaped(base)}?after=${next}" rel="next">Earlier entries</a>`,
  ].filter(Boolean);
  return `<section aria-labelledby="entries">
<h2 id="entries">Maintenance</h2>
${items.length === 0 ? '<p class="soft">There are no entries to show.</p>' : items.map((entry) => entryHtml(entry, base)).join('\n')}
${more.length === 0 ? '' : `<nav class="more" aria-label="More entries">${more.join(' ')}</nav>`}
</section>`;
}

function entryHtml(entry: ShownEntry, base: string): string {
  const { ref, type, summary, facts, corrected, release, signoffs, files } = entry;
  const below = `${base}/entries/${ref}`;
  const parts = [
    `<h3>${escaped(type ?? 'Entry')}</h3>`,
    release === null ? '' : releaseHtml(release),
    corrected && release !== 'withdrawn'
      ? '<p class="badge warn">Corrected: the owner has recorded a correction of this entry</p>'
      : '',
    summary === null ? '' : `<p class="summary">${escaped(summary)}</p>`,
    listOf(facts),
    signoffs.length === 0
      ? ''
      : `<ul class="signoffs">${signoffs.map((signoff) => signoffHtml(signoff, below)).join('')}</ul>`,
    files.length === 0
      ? ''
      : `<ul class="files">${files
          .map(({ name, contentHash, content }) => {
            const label = content
              ? `<a href="${escaped(below)}/files/${content.place}" download>${escaped(name)}</a> <span class="soft">${content.size.toLocaleString('en')} bytes</span>`
              : escaped(name);
            return `<li>${label}<br><code>${escaped(contentHash)}</code></li>`;
          })
          .join('')}</ul>`,
    checkHtml(entry, below),
  ];
  return `<article>\n${parts.filter(Boolean).join('\n')}\n</article>`;
}

function releaseHtml(release: NonNullable<ShownEntry['release']>): string {
  const [tone, words] = {
    'in force': ['good', 'Released: this work is certified'],
    withdrawn: ['bad', 'Release withdrawn: the owner has recorded a correction of this entry'],
    none: ['', 'Not released: nobody has certified this work'],
  }[release];
  return `<p class="badge ${tone}">${words}</p>`;
}

function signoffHtml({ number, text, sealed }: ShownSignoff, below: string): string {
  const links = sealed ? checkLinks(`${below}/signoffs/${number}`, `sign-off ${number}`) : '';
  return `<li>${escaped(text)}${links}</li>`;
}

function checkHtml({ check }: ShownEntry, below: string): string {
  if (!check) return '';
  const { sealedAt, whole } = check;
  if (!sealedAt) {
    return '<p class="check soft">Not on the chain yet, so there is no proof of it. Look again in a few minutes.</p>';
  }
  const meaning = whole
    ? 'The proof shows that the owner of that time sealed this entry, word for word, no later than then.'
    : 'The proof shows that the owner of that time sealed an entry with the fingerprint in it no later than then, but not what the entry says. To compare, ask the owner for the whole entry.';
  return `<div class="check"><p>Anchored on ${time(sealedAt)}. ${meaning}</p>${checkLinks(below, 'this entry', whole)}</div>`;
}

/** To the page that checks proofs, and to the files, which can be checked without this service. */
function checkLinks(below: string, what: string, whole = true): string {
  const proof = `${below}/proof.json`;
  const content = `${below}/document.json`;
  const query = new URLSearchParams({ proof, ...(whole && { content }) });
  const download = (path: string, label: string) => `<a href="${escaped(path)}" download>${label}</a>`;
  return ` <span class="links"><a href="/verify#${escaped(query.toString())}" aria-label="Check it yourself: ${what}">Check it yourself</a> ${download(proof, 'Proof')}${whole ? ` ${download(content, 'Document')}` : ''}</span>`;
}

function listOf(facts: Fact[]): string {
  if (facts.length === 0) return '';
  return `<dl>${facts.map(([label, value]) => `<div><dt>${escaped(label)}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>`;
}

function time(at: Date): string {
  return `<time datetime="${at.toISOString()}">${dateAndTime(at)}</time>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
