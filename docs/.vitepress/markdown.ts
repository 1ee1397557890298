/**
 * How the site reads the documents, which are read in a checkout too: the same anchors, no link that leads outside, and the same
 * pages each time they are built.
 */
import type { MarkdownOptions } from 'vitepress';

type Extension = NonNullable<MarkdownOptions['config']>;

/** The anchor of a heading, as code hosts make it. */
export function githubAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Of a link to what the site does not have, such as a source file, only the text stays. */
export const linksStayInside: Extension = (markdown) => {
  // Links do not nest, so this is about the one that was opened last.
  let outside = false;
  markdown.core.ruler.push('links_stay_inside', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open' && token.type !== 'link_close') continue;
      if (token.type === 'link_open') outside = leadsOutside(token.attrGet('href') ?? '');
      if (outside) Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
      else if (token.type === 'link_open') token.attrSet('href', rewritten(token.attrGet('href') ?? ''));
    }
  });
};

/** The tabs of code have random names otherwise, and no release would have the same bytes twice. */
export const tabsAreNumbered: Extension = ({ renderer }) => {
  const rule = 'container_code-group_open';
  const open = renderer.rules[rule];
  if (!open) throw new Error(`VitePress has no rule ${rule} any more.`);
  renderer.rules[rule] = (...given) => {
    const [, place] = given;
    const names = new Map<string, string>();
    return open(...given).replace(/(?<=")(group|tab)-[\w-]+(?=")/g, (name, kind) => {
      if (!names.has(name)) names.set(name, `${kind}-${place}-${names.size}`);
      return names.get(name) ?? name;
    });
  };
};

/** By default a line that takes half a second is left as it is from there on, which depends on how busy the machine is. */
export const linesAreRead: NonNullable<MarkdownOptions['codeTransformers']>[number] = {
  preprocess(_code, options) {
    options.tokenizeTimeLimit = 0;
  },
};

/** Every document but these is a page, and is named relative to the one that links to it. */
function leadsOutside(href: string): boolean {
  if (/^([a-z]+:|[#/])/.test(href)) return false;
  return !/^(\.\.?\/)?(guide\/)?(?!architecture|dependencies)[a-z-]+\.md(#|$)/.test(href);
}

/** See `rewrites` in config.ts. */
function rewritten(href: string): string {
  return href.replace(/(^|\/)api\.md/, '$1requests.md');
}
