/** `create`, `create-worker`, `create-idempotent`: POST one thing, against a bare route that does one durable INSERT. */
import { apiBase } from '../../src/http/api.ts';
import { peerDatabase } from '../bare-peer.ts';
import { duel } from '../duel.ts';
import type { LoadRequest } from '../load.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { keyHeaders } from '../service.ts';

const newVault = { name: 'Cold room 4', description: 'Temperature records of the cold room' };
const newWorker = { name: 'Ada Example' };

export const create: Row = createRow({
  name: 'create',
  what: 'POST a vault, against one bare durable INSERT',
  path: '/platform/vaults',
  body: newVault,
  table: 'vaults',
});

export const createWorker: Row = createRow({
  name: 'create-worker',
  what: 'POST a worker, against one bare durable INSERT',
  path: '/damc/workers/',
  body: newWorker,
  table: 'workers',
});

export const createIdempotent: Row = createRow({
  name: 'create-idempotent',
  what: 'POST a vault with a fresh Idempotency-Key, against the INSERT',
  path: '/platform/vaults',
  body: newVault,
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
  return {
    name,
    what,
    async measure(stage) {
      const service = await stage.service();
      const peer = await stage.barePeer();
      const postgres = await stage.postgres();
      const post = (path: string, headers: Record<string, string>): LoadRequest => ({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          ...headers,
          // The peer gets it too, so that both sides cost the load generator the same.
          ...(idempotent && { 'idempotency-key': '[<id>]' }),
        },
        body: JSON.stringify(body),
      });
      return duel(stage, {
        peer: {
          url: peer.url,
          requests: [post('/things', {})],
          countRows: () => postgres.countRows(peerDatabase, 'things'),
        },
        holdfast: {
          url: service.url,
          requests: [post(apiBase + path, keyHeaders(service))],
          countRows: () => postgres.countRows(holdfastDatabase, table),
        },
        atLeast: 1,
        freshIds: idempotent,
      });
    },
  };
}
