/** Three PostgreSQL servers under Patroni with etcd, as in deploy/patroni/patroni.yml: one takes writes, one is synchronous. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { chooseServerAccount, readPasswd } from '../../../src/db/embedded/account.ts';
import { pathOf } from '../../support/programs/needs.ts';
import { withClient } from '../../support/service/database.ts';
import { freePort } from '../../support/service/postgres-server.ts';
import { waitUntil } from '../../support/service/process.ts';
import { Violation } from '../violation.ts';

/** The servers start with a copy of everything; on a busy machine that takes its time. */
const longestStartMs = 180_000;
/** An old primary is rewound, or copied anew: how long Patroni takes for that is no promise of Holdfast. */
const longestRejoinMs = 900_000;
const sampleFile = resolve(import.meta.dirname, '../../../deploy/patroni/patroni.yml');
const passwords = { superuser: 'of-the-superuser', replication: 'of-replication', rewind: 'of-rewind' };
const rolePassword = 'of-holdfast';

export interface Member {
  name: string;
  /** kill -9 of PostgreSQL and of what looks after it, as when the machine dies. */
  kill(): Promise<void>;
  /** kill -9 of PostgreSQL alone: Patroni starts it again. */
  killServer(): Promise<void>;
  start(): void;
  /** PATRONI: primary, sync_standby, replica …; null: nobody answers. */
  role(): Promise<string | null>;
}

export interface Patroni {
  members: Member[];
  /** With all hosts, as operators give it. */
  url: string;
  /** The host that takes writes now, for who looks behind the service's back. */
  primaryUrl(): Promise<string>;
  /** `other`: waits for one that is not this. */
  primary(other?: string): Promise<Member>;
  /** One primary, one synchronous standby, and one more: nothing is missing. */
  expectWhole(): Promise<void>;
  log(): Promise<string>;
  close(): Promise<void>;
}

export async function startPatroni(): Promise<Patroni> {
  const [patroni, etcd] = [pathOf('patroni'), pathOf('etcd')];
  const account = process.geteuid?.() === 0 ? chooseServerAccount(await readPasswd()) : null;
  const home = await mkdtemp(join(tmpdir(), 'holdfast-patroni-'));
  const own = async (directory: string) => {
    await mkdir(directory, { recursive: true });
    if (account) await chown(directory, account.uid, account.gid);
    await chmod(directory, 0o700);
  };
  await own(home);
  const running = new Set<ChildProcess>();

  function launch(
    program: string,
    args: string[],
    { env = {}, output = 'ignore' }: Launch = {},
  ): ChildProcess {
    const child = spawn(program, args, {
      cwd: home,
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC', ...env },
      stdio: ['ignore', output, output],
      ...(account && { uid: account.uid, gid: account.gid }),
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  }

  async function startEtcd(): Promise<string> {
    const [clients, peers] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    launch(etcd, [
      ...['--data-dir', join(home, 'etcd'), '--logger', 'zap'],
      ...['--listen-client-urls', `http://${clients}`, '--advertise-client-urls', `http://${clients}`],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
      ...['--initial-cluster', `default=${peers}`],
    ]);
    await waitUntil(() =>
      fetch(`http://${clients}/health`)
        .then((answer) => answer.ok)
        .catch(() => false),
    );
    return clients;
  }

  async function makeMember(name: string, etcd: string): Promise<Member & { port: number }> {
    const directory = join(home, name);
    await own(directory);
    const [port, restPort] = [await freePort(), await freePort()];
    const file = join(home, `${name}.yml`);
    // YAML contains JSON.
    await writeFile(file, JSON.stringify(await configOf({ name, directory, etcd, port, restPort })));
    let child: ChildProcess | null = null;
    const serverPid = async () => {
      const text = await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
      const pid = Number(text.split('\n')[0]);
      return pid > 1 ? pid : null;
    };
    const end = async (pid: number | null) => {
      if (pid === null) return;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        return;
      }
      await waitUntil(() => !existsSync(`/proc/${pid}`));
    };
    return {
      name,
      port,
      start() {
        const output = openSync(join(directory, 'postgresql.log'), 'a');
        child = launch(patroni, [file], {
          env: {
            PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
            PATRONI_REPLICATION_PASSWORD: passwords.replication,
            PATRONI_REWIND_PASSWORD: passwords.rewind,
          },
          output,
        });
        closeSync(output);
      },
      async kill() {
        const patroni = child;
        if (patroni && patroni.exitCode === null && patroni.signalCode === null) {
          const exited = new Promise((done) => patroni.once('exit', done));
          patroni.kill('SIGKILL');
          await exited;
        }
        await end(await serverPid());
      },
      killServer: async () => end(await serverPid()),
      async role() {
        try {
          const answer = await fetch(`http://127.0.0.1:${restPort}/patroni`, {
            signal: AbortSignal.timeout(2_000),
          });
          const { role, state, sync_standby } = (await answer.json()) as Record<string, unknown>;
          if (state !== 'running') return null;
          return role === 'master' ? 'primary' : sync_standby ? 'sync_standby' : String(role);
        } catch {
          return null;
        }
      },
    };
  }

  const log = async () => {
    const files = ['db1', 'db2', 'db3'].flatMap((name) =>
      ['patroni.log', 'postgresql.log'].map((file) => join(name, file)),
    );
    const texts = await Promise.all(
      files.map(async (file) => {
        const text = await readFile(join(home, file), 'utf8').catch(() => '');
        return `--- ${file}\n${text.slice(-5_000)}`;
      }),
    );
    return texts.join('\n');
  };

  const members: (Member & { port: number })[] = [];
  async function close(): Promise<void> {
    for (const member of members) await member.kill();
    for (const child of [...running]) {
      const exited = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await exited;
    }
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async function primary(other?: string): Promise<Member & { port: number }> {
    return waitUntil(async () => {
      const roles = await Promise.all(members.map((member) => member.role()));
      const found = members.filter(({ name }, place) => name !== other && roles[place] === 'primary');
      // For a moment two may think so; the old one cannot commit.
      return found.length === 1 && found[0];
    }, longestStartMs);
  }

  const urlTo = (hosts: string, database = 'evidence', login = `holdfast:${rolePassword}`) =>
    `postgres://${login}@${hosts}/${database}`;

  async function expectWhole(): Promise<void> {
    await waitUntil(async () => {
      const roles = await Promise.all(members.map((member) => member.role()));
      return roles.toSorted().join() === 'primary,replica,sync_standby';
    }, longestRejoinMs).catch(async (cause) => {
      throw new Violation('the database is not whole again', [String(cause), await log()]);
    });
  }

  try {
    const etcd = await startEtcd();
    for (const name of ['db1', 'db2', 'db3']) members.push(await makeMember(name, etcd));
    const [first, ...others] = members;
    first?.start();
    const { port } = await primary();
    const admin = urlTo(`127.0.0.1:${port}`, 'postgres', `postgres:${passwords.superuser}`);
    await withClient({ connectionString: admin }, async (client) => {
      await client.query(`create role holdfast login password '${rolePassword}'`);
      await client.query('create database evidence owner holdfast');
    });
    for (const member of others) member.start();
    await waitUntil(async () => {
      const roles = await Promise.all(members.map((member) => member.role()));
      return roles.includes('sync_standby') && !roles.includes(null);
    }, longestStartMs);
    return {
      members,
      url: urlTo(members.map((member) => `127.0.0.1:${member.port}`).join()),
      primaryUrl: async () => urlTo(`127.0.0.1:${(await primary()).port}`),
      primary,
      expectWhole,
      log,
      close,
    };
  } catch (error) {
    const said = await log();
    await close();
    throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
  }
}

interface Launch {
  env?: Record<string, string>;
  /** Where its output goes. */
  output?: number | 'ignore';
}

interface Place {
  name: string;
  directory: string;
  etcd: string;
  port: number;
  restPort: number;
}

/** The sample, with the addresses and directories of this machine. */
async function configOf({ name, directory, etcd, port, restPort }: Place): Promise<unknown> {
  const text = (await readFile(sampleFile, 'utf8')).replaceAll('10.0.0.0/8', '127.0.0.0/8');
  // biome-ignore lint/suspicious/noExplicitAny: a file of somebody else's format
  const sample = parseYaml(text) as any;
  return {
    ...sample,
    name,
    etcd3: { hosts: [etcd] },
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    log: { dir: directory, level: 'INFO' },
    postgresql: {
      ...sample.postgresql,
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(directory, 'data'),
      // By default all members on this machine would write over the same file.
      pgpass: join(directory, 'pgpass'),
      parameters: { ...sample.postgresql.parameters, unix_socket_directories: '' },
    },
    // There is none to reset.
    watchdog: { mode: 'off' },
  };
}
