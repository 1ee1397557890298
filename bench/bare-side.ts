/** The bare peer as a side of a duel. */
import { type BarePeer, peerDatabase } from './bare-peer.ts';
import type { Side } from './duel.ts';
import type { Fixture } from './fixture.ts';
import { jsonPost } from './load.ts';
import type { Postgres } from './postgres.ts';
import type { Processes } from './spent.ts';

/** Of its turns. The PostgreSQL also has what the idle service asks of it meanwhile. */
export function bareProcesses(peer: BarePeer, postgres: Postgres): Processes {
  return { service: [peer.pid], postgres: [postgres.pid] };
}

/** One durable INSERT for each request. */
export async function bareInserts(
  fixture: Fixture,
  { body, idempotent }: { body: object; idempotent: boolean },
): Promise<Side> {
  const peer = await fixture.barePeer();
  const postgres = await fixture.postgres();
  return {
    url: peer.url,
    requests: [jsonPost('/things', { body, idempotent })],
    processes: async () => bareProcesses(peer, postgres),
    countRows: () => postgres.countRows(peerDatabase, 'things'),
  };
}
