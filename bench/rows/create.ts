/**
 * The `create` rows: POST one thing, against a bare route that does one durable INSERT. Where the service makes the key
 * of a vault or worker, 160 µs of curve arithmetic are part of it, which the peer does not have.
 */
import { apiBase } from '../../src/http/api/api.ts';
import { bareInserts } from '../bare-side.ts';
import { duelRow } from '../duel.ts';
import { jsonPost } from '../load.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { keyHeaders } from '../service.ts';
import { processesOf } from '../service-processes.ts';

const newVault = { name: 'Cold room 4', description: 'Temperature records of the cold room' };
const newWorker = { name: 'Ada Example' };
const ownKeyWorker = { name: 'Ada Example', address: '[<address>]' };

export const create: Row = createRow({
  name: 'create',
  what: 'POST a vault, its key included, against one bare durable INSERT',
  path: '/platform/vaults',
  body: newVault,
  table: 'vaults',
});

export const createWorker: Row = createRow({
  name: 'create-worker',
  what: 'POST a worker, the key included, against the INSERT',
  path: '/damc/workers/',
  body: newWorker,
  table: 'workers',
});

export const createOwnKey: Row = createRow({
  name: 'create-own-key',
  what: 'POST a worker who holds the key, against the INSERT',
  path: '/damc/workers/',
  body: ownKeyWorker,
  table: 'workers',
});

export const createIdempotent: Row = createRow({
  name: 'create-idempotent',
  what: 'POST a worker who holds the key, with an Idempotency-Key',
  path: '/damc/workers/',
  body: ownKeyWorker,
  // A key that came twice would be answered without a row of its own, and found out by the count.
  table: 'idempotent_answers',
  idempotent: true,
});

interface CreateRow {
  name: string;
  what: string;
  path: string;
  body: object;
  /** Gets one row a request. */
  table: string;
  idempotent?: boolean;
}

function createRow({ name, what, path, body, table, idempotent = false }: CreateRow): Row {
  return duelRow({
    name,
    what,
    peer: (fixture) => bareInserts(fixture, { body, idempotent }),
    async holdfast(fixture) {
      const service = await fixture.service();
      const postgres = await fixture.postgres();
      return {
        url: service.url,
        requests: [jsonPost(apiBase + path, { headers: keyHeaders(service), body, idempotent })],
        processes: () => processesOf(service),
        countRows: () => postgres.countRows(holdfastDatabase, table),
      };
    },
    // Keeping the answer costs a row and a look-up more.
    atLeast: idempotent ? 0.8 : 0.9,
    freshIds: idempotent,
    freshAddresses: body === ownKeyWorker,
  });
}
