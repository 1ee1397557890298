/**
 * Makes the vectors: `node test/vectors/make.ts [--again] [NAME …]`. Without `--again` it makes only those that do not exist:
 * after the first release nothing may change a vector that verifiers are tested with.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allVectors } from '../support/vectors/all-vectors.ts';

const { values, positionals } = parseArgs({
  options: { again: { type: 'boolean' } },
  allowPositionals: true,
});
const made = await allVectors();
const unknown = positionals.filter((name) => !made.some((vector) => vector.name === name));
if (unknown.length > 0) throw new Error(`There is no vector ${unknown.join(', ')}.`);
const files = made
  .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  .map(({ name, ...vector }) => ({ path: join(import.meta.dirname, `${name}.json`), vector }))
  .filter(({ path }) => values.again || !existsSync(path));
for (const { path, vector } of files) writeFileSync(path, `${written(vector, 0)}\n`);
/** The formatter leaves larger ones alone. */
const small = files.filter(({ path }) => statSync(path).size < 2 ** 20);
if (small.length > 0) {
  const biome = join(import.meta.dirname, '../../node_modules/.bin/biome');
  execFileSync(biome, ['format', '--write', ...small.map(({ path }) => path)], { stdio: 'ignore' });
}
console.log(`${files.length} vectors written, ${made.length - files.length} left as they are.`);

/** On one line what fits there, as the formatter would have it. */
function written(value: unknown, indent: number): string {
  const parts =
    typeof value !== 'object' || value === null
      ? []
      : Array.isArray(value)
        ? value.map((item) => written(item, indent + 2))
        : Object.entries(value)
            .filter(([, member]) => member !== undefined)
            .map(([name, member]) => `${JSON.stringify(name)}: ${written(member, indent + 2)}`);
  if (parts.length === 0) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (indent > 0 && line.length + indent < 90 && !line.includes('\n')) return line;
  const margin = ' '.repeat(indent);
  return `${open.trim()}\n${parts.map((part) => `${margin}  ${part}`).join(',\n')}\n${margin}${close.trim()}`;
}
