/** Recognising a cluster's server process from the little that can be seen of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayBePostmaster, type Signs } from './postmaster.ts';

const pidFile = '4711\n/mnt/data\n1760000000\n5433\n\n127.0.0.1\n  1234 5\nready   \n';
const command = ['/opt/pg/bin/postgres', '-D', '/mnt/data', '-p', '5433', '-c', 'wal_level=minimal', ''];

const cases: [string, Partial<Signs>, boolean][] = [
  ['it works in the cluster', { isAtHome: true }, true],
  ['it works in the cluster, which was renamed', { isAtHome: true, pidFile: null }, true],
  ['it works elsewhere', { isAtHome: false }, false],
  ['it is another program', { command: ['/usr/bin/node', 'postgres', ''] }, false],
  ['it is another program in the cluster', { command: ['sh', ''], isAtHome: true }, false],
  ['it is dead and not reaped', { command: [''] }, false],
  ['it is one of a server’s children', { command: ['postgres: checkpointer ', ''] }, false],
  ['its directory is hidden, and its command line says what the file says', {}, true],
  ['its command line names another directory', { command: ['postgres', '-D', '/mnt/other', ''] }, false],
  ['its command line names another port', { command: command.with(4, '5434') }, false],
  ['its command line says nothing', { command: ['/opt/pg/bin/postgres', ''] }, true],
  ['everything is hidden', { command: null }, true],
  ['everything is hidden, and the file is gone', { command: null, pidFile: null }, true],
  ['the file is cut short', { pidFile: '4711\n' }, true],
];

for (const [what, signs, expected] of cases) {
  test(`${what}: ${expected ? 'it may be' : 'it is not'} the server`, () => {
    assert.equal(mayBePostmaster({ command, isAtHome: null, pidFile, ...signs }), expected);
  });
}
