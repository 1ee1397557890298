/** A duel of GETs: a route of the service against a bare route that does one SELECT by key. */
import { peerDatabase } from './bare-peer.ts';
import { duel } from './duel.ts';
import type { Fixture } from './fixture.ts';
import { holdfastDatabase } from './postgres.ts';
import type { Outcome } from './row.ts';
import { keyHeaders, type Service } from './service.ts';

export interface ReadDuel {
  /** Makes as many things as the peer has, and returns their paths. */
  makePaths(service: Service, count: number): Promise<string[]>;
  /** Where each GET leaves a row. */
  loggedIn?: string;
  atLeast: number;
}

export async function readDuel(
  fixture: Fixture,
  { makePaths, loggedIn, atLeast }: ReadDuel,
): Promise<Outcome> {
  const service = await fixture.service();
  const peer = await fixture.barePeer();
  const paths = await makePaths(service, peer.addresses.length);
  const postgres = await fixture.postgres();
  // Autovacuum would do it within a minute, in the middle of somebody's turn.
  await postgres.query(holdfastDatabase, 'vacuum analyze');
  await postgres.query(peerDatabase, 'vacuum analyze');
  const headers = keyHeaders(service);
  return duel(fixture, {
    peer: {
      url: peer.url,
      requests: peer.addresses.map((address) => ({ method: 'GET', path: `/things/${address}` })),
    },
    holdfast: {
      url: service.url,
      requests: paths.map((path) => ({ method: 'GET', path, headers })),
      ...(loggedIn !== undefined && { countRows: () => postgres.countRows(holdfastDatabase, loggedIn) }),
    },
    atLeast,
  });
}
