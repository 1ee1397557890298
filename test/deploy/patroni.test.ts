/** The sample for Patroni: accepted by Patroni, and synchronous. */
// tier: process
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { parseYaml } from '@redocly/openapi-core';
import { needs, pathOf } from '../support/programs/needs.ts';
import { freePort } from '../support/service/postgres-server.ts';

const file = join(resolve(import.meta.dirname, '../..'), 'deploy/patroni/patroni.yml');
// biome-ignore lint/suspicious/noExplicitAny: a file of somebody else's format
const sample = parseYaml(readFileSync(file, 'utf8')) as any;

needs('patroni', 'postgresql-15').test('Patroni finds no fault in the sample', async (t) => {
  assert.equal(sample.postgresql.bin_dir, dirname(pathOf('postgresql-15')));
  // Patroni wants to reach etcd, and to listen: a port that accepts connections is enough for the one.
  const etcd = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => etcd.close());
  await once(etcd, 'listening');
  const child = spawn(pathOf('patroni'), ['--validate-config', file], {
    env: {
      ...process.env,
      PATRONI_ETCD3_HOSTS: `127.0.0.1:${(etcd.address() as AddressInfo).port}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${await freePort()}`,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${await freePort()}`,
    },
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, (await said).join(''));
});

test('only a server that has every acknowledged write can take over', () => {
  const { synchronous_mode, postgresql } = sample.bootstrap.dcs;
  assert.equal(synchronous_mode, true);
  assert.equal(postgresql.parameters.synchronous_commit, 'on');
});
