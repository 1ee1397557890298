/** What rows stand on: service, peer and load generator, started when first asked for, all stopped at the end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BarePeer, startBarePeer } from './bare-peer.ts';
import { type LoadGenerator, startLoadGenerator } from './load.ts';
import { joinPostgres, type Postgres } from './postgres.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Redis, startRedis } from './redis.ts';
import { ownRoot, type Service, startService } from './service.ts';
import { startCountedService } from './statements.ts';
import { type StreamSource, startStreamSource } from './stream.ts';

export interface Fixture {
  /** The checkout that its services run from. */
  root: string;
  /** How long and how often the sides of a comparison play. */
  turns: Turns;
  /** The one service that is under load. */
  service(): Promise<Service>;
  /** The PostgreSQL of that service, which peers use too. */
  postgres(): Promise<Postgres>;
  barePeer(): Promise<BarePeer>;
  load(): Promise<LoadGenerator>;
  stream(): Promise<StreamSource>;
  /** Another service, whose SQL statements are counted, and its PostgreSQL. */
  countedService(): Promise<Service>;
  countedPostgres(): Promise<Postgres>;
  /** Of webhooks. */
  receiver(): Promise<Receiver>;
  /** null: redis-server is not installed. */
  redis(): Promise<Redis | null>;
  /** A fresh directory that is removed at the end. */
  newDirectory(): Promise<string>;
  /** Starts something that is stopped at the end, if nobody does before. */
  keep<T extends Stoppable | null>(start: () => Promise<T>): Promise<T>;
  /** The same with services from another checkout; it is closed together with this one. */
  from(root: string): Fixture;
  /** Stops everything, the last first. */
  close(): Promise<void>;
}

export interface Turns {
  rounds: number;
  /** Of load from the load generator, in a round. */
  seconds: number;
  /** Of each kind, in the row `growth`; if absent, as many as it usually has. */
  rows?: number;
}

export interface Stoppable {
  /** Does nothing the second time. */
  stop(): Promise<void>;
}

/** Of a comparison with a peer. */
export const usualTurns: Turns = { rounds: 3, seconds: 4 };

export async function openFixture(turns = usualTurns): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const kept: Promise<Stoppable | null>[] = [];
  let closed: Promise<void> | null = null;

  function keep<T extends Stoppable | null>(start: () => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new Error('interrupted'));
    const started = start();
    kept.push(started);
    return started;
  }

  async function stopAll(): Promise<void> {
    for (const started of kept.toReversed()) {
      // What did not start was told to whoever asked for it. What is just starting is waited for: a service that
      // is killed half-way leaves its PostgreSQL behind.
      const thing = await started.catch(() => null);
      await thing?.stop().catch((error) => console.error(error));
    }
    await rm(folder, { recursive: true, force: true });
  }

  const newDirectory = () => mkdtemp(join(folder, 'data-'));
  const shared = {
    turns,
    load: once(() => keep(startLoadGenerator)),
    stream: once(() => keep(startStreamSource)),
    receiver: once(() => keep(startReceiver)),
    redis: once(() => keep(async () => startRedis(await newDirectory()))),
    newDirectory,
    keep,
    from,
    close() {
      closed ??= stopAll();
      return closed;
    },
  };

  function from(root: string): Fixture {
    const service = once(() => keep(async () => startService({ root, dataDir: await newDirectory() })));
    const postgres = once(async () => {
      const { dataDir } = await service();
      return keep(() => joinPostgres(dataDir));
    });
    const barePeer = once(async () => {
      const server = await postgres();
      return keep(() => startBarePeer(server));
    });
    const countedService = once(() =>
      keep(async () => startCountedService({ root, dataDir: await newDirectory() })),
    );
    const countedPostgres = once(async () => {
      const { dataDir } = await countedService();
      return keep(() => joinPostgres(dataDir));
    });
    return { ...shared, root, service, postgres, barePeer, countedService, countedPostgres };
  }

  return from(ownRoot);
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => {
    started ??= start();
    return started;
  };
}
