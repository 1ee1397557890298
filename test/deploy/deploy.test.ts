/** The samples in deploy/: each can be parsed, is listed in the README, and names only settings that exist. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseYaml } from '@redocly/openapi-core';
import { settingNames } from '../../src/config/settings.ts';

const folder = join(resolve(import.meta.dirname, '../..'), 'deploy');
const files = globSync('**/*', { cwd: folder, exclude: ['secrets'], withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

// biome-ignore lint/suspicious/noExplicitAny: a file of somebody else's format
const compose = parseYaml(read(join(folder, 'compose.yaml'))) as any;

test('every setting that a sample names exists', () => {
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bHOLDFAST_[A-Z0-9_]+/g)].map(([name]) => ({ file, name })),
  );
  assert.ok(named.length > 10);
  assert.deepEqual(
    named.filter(({ name }) => !settingNames.includes(name)),
    [],
  );
});

test('YAML and shell files can be parsed', () => {
  for (const file of files.filter((name) => /\.ya?ml$/.test(name))) {
    // Templates of Helm are YAML only once they are rendered.
    if (!file.includes('/templates/')) parseYaml(read(file));
  }
  for (const file of files.filter((name) => name.endsWith('.sh'))) {
    const { status, stderr } = spawnSync('sh', ['-n', file], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
});

test('each file that the README links to exists', () => {
  const links = [...read(join(folder, 'README.md')).matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link);
  assert.ok(links.length > 5);
  for (const link of links) read(join(folder, link));
});

test('compose: what is used is defined', () => {
  const defined = (kind: string) => Object.keys(compose[kind]).sort();
  const services: Record<string, unknown>[] = Object.values(compose.services);
  const used = (kind: string) =>
    [...new Set(services.flatMap((service) => (service[kind] ?? []) as string[]))].sort();
  assert.deepEqual(used('secrets'), defined('secrets'));
  assert.deepEqual(used('networks'), defined('networks'));
  const volumes = used('volumes').filter((volume) => !volume.startsWith('.'));
  assert.deepEqual([...new Set(volumes.map((volume) => volume.split(':')[0]))].sort(), defined('volumes'));
  for (const service of services) {
    for (const name of Object.keys(arrayToObject(service.depends_on)))
      assert.ok(compose.services[name], name);
  }
});

test('compose: no secret is in the environment, and nodes cannot write to their image', () => {
  for (const name of ['node1', 'node2']) {
    const { environment, read_only, cap_drop, secrets } = compose.services[name];
    assert.equal(environment.DATABASE_URL, undefined);
    assert.equal(environment.HOLDFAST_MASTER_KEY, undefined);
    assert.equal(read_only, true);
    assert.deepEqual(cap_drop, ['ALL']);
    assert.ok(secrets.includes('master-key'));
  }
});

test('compose: the nodes trust the network of the proxy', () => {
  const [{ subnet }] = compose.networks.inside.ipam.config;
  for (const name of ['node1', 'node2'])
    assert.equal(compose.services[name].environment.HOLDFAST_TRUST_PROXY, subnet);
});

test('the image runs as nobody in particular, and says when it is ready', () => {
  const text = read(join(folder, 'image/Containerfile'));
  assert.match(text, /^ARG BASE=/m);
  assert.match(text, /^USER 10001:10001$/m);
  assert.match(text, /^HEALTHCHECK .*\/readyz/m);
});

function arrayToObject(value: unknown): object {
  return Array.isArray(value) ? Object.fromEntries(value.map((name) => [name, true])) : (value ?? {});
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}
