/** `read`: GET a vault, against a bare route that does one SELECT by key. */
import { apiBase } from '../../src/http/api.ts';
import { peerDatabase } from '../bare-peer.ts';
import { duel } from '../duel.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { keyHeaders, type Service } from '../service.ts';

const vaults = `${apiBase}/platform/vaults`;

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
        requests: addresses.map((address) => ({ method: 'GET', path: `${vaults}/${address}`, headers })),
      },
      atLeast: 1,
    });
  },
};

/** Makes vaults through the API; returns their addresses. */
async function makeVaults(service: Service, count: number): Promise<string[]> {
  const makeOne = async (_: unknown, position: number): Promise<string> => {
    const answer = await fetch(service.url + vaults, {
      method: 'POST',
      headers: { ...keyHeaders(service), 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Vault ${position}`, description: 'Read by the benchmark' }),
    });
    if (answer.status !== 201) throw new Error(`no vault was made: ${await answer.text()}`);
    return ((await answer.json()) as { address: string }).address;
  };
  return Promise.all(Array.from({ length: count }, makeOne));
}
