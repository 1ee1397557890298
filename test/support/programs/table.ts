/**
 * The optional programs of the tests: how each is found, and what brings it. Tests get at them by needs.ts alone. Whatever
 * has a checkout is taken to have Node.js, git, a shell, bash, tar and the usual tools for files; not Python, nor openssl.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findAnvil, npmHasAnvil } from './anvil-place.ts';
import { browserNames, findBrowser } from './browser-place.ts';
import { answering, isProgram, onPath, pythonWith } from './on-path.ts';

export interface Program {
  /** Its path, or null where it is missing; Python packages have that of the Python that knows them. */
  find(): string | null;
  /** Its names on the PATH, which test/bare.sh hides. */
  commands: string[];
  /** The packages of Debian 12 that bring it. */
  debian: string[];
  /** Why `--require all` leaves it out here. */
  notInAll?: string | false;
}

const python = { commands: ['python3'] };
const notInDebian = { debian: [], notInAll: 'Debian has no package of it' };

const table = {
  anvil: {
    find: findAnvil,
    commands: ['anvil'],
    debian: [],
    notInAll: !npmHasAnvil && 'npm installs it only for Linux on x64',
  },
  bun: { find: () => answering('bun', '--version'), commands: ['bun'], ...notInDebian },
  'ca-certificates': {
    find: () => existing('/usr/share/ca-certificates/mozilla'),
    commands: [],
    debian: ['ca-certificates'],
  },
  chromium: { find: findBrowser, commands: browserNames, debian: ['chromium'] },
  curl: { find: () => onPath('curl'), commands: ['curl'], debian: ['curl'] },
  deno: { find: () => answering('deno', '--version'), commands: ['deno'], ...notInDebian },
  'dpkg-deb': { find: () => onPath('dpkg-deb'), commands: ['dpkg-deb'], debian: ['dpkg'] },
  etcd: { find: () => answering('etcd', '--version'), commands: ['etcd'], debian: ['etcd-server'] },
  faketime: { find: () => onPath('faketime'), commands: ['faketime'], debian: ['faketime'] },
  go: { find: () => answering('go', 'version'), commands: ['go'], debian: ['golang-go'] },
  haproxy: { find: () => onPath('haproxy'), commands: ['haproxy'], debian: ['haproxy'] },
  openssl: { find: () => answering('openssl', 'version'), commands: ['openssl'], debian: ['openssl'] },
  /** Clients are for the Node.js of others too. */
  'other-node': {
    find: otherNode,
    commands: [],
    debian: [],
    notInAll: 'any version but the pinned one will do, and a machine may have none',
  },
  patroni: { find: () => answering('patroni', '--version'), commands: ['patroni'], debian: ['patroni'] },
  pgbouncer: {
    // Also where an ordinary user's PATH does not lead.
    find: () => onPath('pgbouncer') ?? existing('/usr/sbin/pgbouncer'),
    commands: ['pgbouncer'],
    debian: ['pgbouncer'],
  },
  'postgresql-15': {
    find: () => existing('/usr/lib/postgresql/15/bin/initdb'),
    commands: [],
    debian: ['postgresql-15'],
  },
  promtool: { find: () => onPath('promtool'), commands: ['promtool'], debian: ['prometheus'] },
  python3: { find: () => answering('python3', '--version'), ...python, debian: ['python3'] },
  'python3-fastapi': {
    find: () => pythonWith('fastapi', 'uvicorn'),
    ...python,
    debian: ['python3-fastapi', 'python3-uvicorn'],
  },
  'python3-opentimestamps': {
    find: () => pythonWith('opentimestamps', 'bitcoin.core'),
    ...python,
    debian: ['python3-opentimestamps'],
  },
  'python3-rfc3161ng': {
    find: () => pythonWith('rfc3161ng'),
    ...python,
    debian: ['python3-rfc3161ng'],
  },
  'systemd-analyze': {
    find: () => onPath('systemd-analyze'),
    commands: ['systemd-analyze'],
    debian: ['systemd'],
  },
  unzip: { find: () => onPath('unzip'), commands: ['unzip'], debian: ['unzip'] },
} satisfies Record<string, Program>;

export type ProgramName = keyof typeof table;

export const programs: Record<ProgramName, Program> = table;

export const programNames = Object.keys(programs) as ProgramName[];

function existing(path: string): string | null {
  return existsSync(path) ? path : null;
}

/** Another Node.js than the one that runs this. */
function otherNode(): string | null {
  const all = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const version = (file: string) => spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout.trim();
  return all.find((file) => isProgram(file) && version(file) !== process.version) ?? null;
}
