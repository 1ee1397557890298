/** `read`: GET a vault, against a bare route that does one SELECT by key. */
import { peerDatabase } from '../bare-peer.ts';
import { duel } from '../duel.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { keyHeaders } from '../service.ts';
import { makeVaults, vaultsPath } from '../vaults.ts';

export const read: Row = {
  name: 'read',
  what: 'GET a vault, against one bare SELECT by key',
  async measure(stage) {
    const service = await stage.service();
    const peer = await stage.barePeer();
    const addresses = await makeVaults(service, peer.addresses.length);
    const postgres = await stage.postgres();
    // Autovacuum would do it within a minute, in the middle of somebody's turn.
    await postgres.query(holdfastDatabase, 'vacuum analyze');
    await postgres.query(peerDatabase, 'vacuum analyze');
    const headers = keyHeaders(service);
    return duel(stage, {
      peer: {
        url: peer.url,
        requests: peer.addresses.map((address) => ({ method: 'GET', path: `/things/${address}` })),
      },
      holdfast: {
        url: service.url,
        requests: addresses.map((address) => ({ method: 'GET', path: `${vaultsPath}/${address}`, headers })),
      },
      atLeast: 1,
    });
  },
};
