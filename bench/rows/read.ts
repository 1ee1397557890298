/** `read`: GET a vault, against a bare route that does one SELECT by key. */
import { readDuel } from '../read-duel.ts';
import type { Row } from '../row.ts';
import { makeVaults, vaultsPath } from '../vaults.ts';

export const read: Row = {
  name: 'read',
  what: 'GET a vault, against one bare SELECT by key',
  measure: (fixture) =>
    readDuel(fixture, {
      async makePaths(service, count) {
        const addresses = await makeVaults(service, count);
        return addresses.map((address) => `${vaultsPath}/${address}`);
      },
      atLeast: 1,
    }),
};
