/** The map of all routes: what each needs, and which file has it. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { table } from './markdown.ts';

const root = resolve(import.meta.dirname, '../..');

interface Operation {
  operationId: string;
  description?: string;
  security?: object[];
}

export function routesTable(): string {
  const { paths } = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const files = globSync('src/**/*.routes.ts', { cwd: root })
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  const fileOf = (operationId: string): string =>
    files.find(({ text }) => text.includes(`operationId: '${operationId}'`))?.file ?? 'src/http/';
  return table(
    ['method', 'path', 'needs', 'operationId', 'file'],
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        method.toUpperCase(),
        `\`${path}\``,
        needsOf(operation),
        operation.operationId,
        `\`${fileOf(operation.operationId)}\``,
      ]),
    ),
  );
}

/** As the document says it of each route. */
function needsOf({ description = '', security = [] }: Operation): string {
  const [, scope] = /Needs the scope `([a-z:]+)`\.$/.exec(description) ?? [];
  const [, role] = /Needs the role `([a-z]+)`\.$/.exec(description) ?? [];
  return scope ?? (role === undefined ? (security.length === 0 ? 'nothing' : 'signed in') : `role ${role}`);
}
