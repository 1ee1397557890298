/** A duel of GETs: a route of the service against a bare route that does one SELECT by key. */
import { peerDatabase, thingsToRead } from './bare-peer.ts';
import { bareProcesses } from './bare-side.ts';
import { duelRow } from './duel.ts';
import { holdfastDatabase } from './postgres.ts';
import type { Row } from './row.ts';
import { keyHeaders, type Service } from './service.ts';
import { processesOf } from './service-processes.ts';

export interface ReadDuel {
  name: string;
  what: string;
  /** Makes as many things as the peer has, and returns their paths. */
  makePaths(service: Service, count: number): Promise<string[]>;
  /** Where each GET leaves a row. */
  loggedIn?: string;
  atLeast: number;
}

export function readRow({ name, what, makePaths, loggedIn, atLeast }: ReadDuel): Row {
  return duelRow({
    name,
    what,
    async peer(fixture) {
      const peer = await fixture.barePeer();
      const postgres = await fixture.postgres();
      await postgres.query(peerDatabase, 'vacuum analyze');
      return {
        url: peer.url,
        requests: peer.addresses.map((address) => ({ method: 'GET', path: `/things/${address}` })),
        processes: async () => bareProcesses(peer, postgres),
      };
    },
    async holdfast(fixture) {
      const service = await fixture.service();
      const postgres = await fixture.postgres();
      const paths = await makePaths(service, thingsToRead);
      // Autovacuum would do it within a minute, in the middle of somebody's turn.
      await postgres.query(holdfastDatabase, 'vacuum analyze');
      const headers = keyHeaders(service);
      return {
        url: service.url,
        requests: paths.map((path) => ({ method: 'GET', path, headers })),
        processes: () => processesOf(service),
        ...(loggedIn !== undefined && { countRows: () => postgres.countRows(holdfastDatabase, loggedIn) }),
      };
    },
    atLeast,
  });
}
