/** `read`: GET a vault, against a bare route that does one SELECT by key. */
import { readRow } from '../read-duel.ts';
import type { Row } from '../row.ts';
import { makeVaults, vaultsPath } from '../vaults.ts';

export const read: Row = readRow({
  name: 'read',
  what: 'GET a vault, against one bare SELECT by key',
  async makePaths(service, count) {
    const addresses = await makeVaults(service, count);
    return addresses.map((address) => `${vaultsPath}/${address}`);
  },
  atLeast: 1.1,
});
