/** The settings: their tables, and `.env.example`. */
import type { Setting } from '../../src/config/setting.ts';
import { settingGroups } from '../../src/config/settings.ts';
import { plain, table, wrap } from './markdown.ts';

export function settingsTables(): string {
  return settingGroups
    .map(({ title, about, settings }) => {
      const rows = settings.map((setting) => [
        `\`${setting.name}\``,
        defaultText(setting),
        aboutText(setting),
      ]);
      const parts = [`### ${title}`, about, table(['name', 'default', 'meaning'], rows)];
      return parts.filter((part) => part !== undefined).join('\n\n');
    })
    .join('\n\n');
}

/** Every setting as a comment, ready to be given a value. */
export function envExample(): string {
  const groups = settingGroups.flatMap(({ title, about, settings }) => [
    [`# ---- ${title} ----`, ...(about === undefined ? [] : comment(about))],
    ...settings.map(envLines),
  ]);
  return `${[envHead, ...groups].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const envHead = [
  '# Settings of Holdfast. Copy this file to .env and remove the "# " of what you change.',
  '# A variable that is already set in the environment wins over this file; an empty value counts as not set.',
  '# Details: docs/operations.md',
  '# Written by "npm run docs" from the tables in src/config/.',
];

function envLines({ name, default: usual, about }: Setting): string[] {
  if (typeof usual === 'string') return [...comment(about), `# ${name}=${usual}`];
  const empty = usual.words === 'none' ? '' : ` Empty: ${usual.words.replace(/^none: /, '')}.`;
  return [...comment(about + empty), `# ${name}=`];
}

function comment(markdown: string): string[] {
  return wrap(plain(markdown), 118).map((line) => `# ${line}`);
}

function defaultText({ default: usual }: Setting): string {
  return typeof usual === 'string' ? `\`${usual}\`` : usual.words;
}

function aboutText({ about, see }: Setting): string {
  return see === undefined ? about : `${about} See ${see}.`;
}
