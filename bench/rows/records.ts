/**
 * The `records` rows: POST records, singly and a thousand at a time, against a bare route that does one durable INSERT.
 * A record is checked, brought into canonical form, hashed and committed together with its leaf and its audit entry.
 */
import { reading, recordsPath } from '../anchoring.ts';
import { bareInserts } from '../bare-side.ts';
import { duelRow } from '../duel.ts';
import { jsonPost } from '../load.ts';
import { holdfastDatabase } from '../postgres.ts';
import type { Row } from '../row.ts';
import { keyHeaders } from '../service.ts';
import { processesOf } from '../service-processes.ts';
import { makeVaults } from '../vaults.ts';

const batchSize = 1_000;

export const records: Row = recordsRow({
  name: 'records',
  what: 'POST a record with an Idempotency-Key, against one bare durable INSERT',
  idempotent: true,
  atLeast: 0.8,
});

export const recordsBatch: Row = recordsRow({
  name: 'records-batch',
  what: `POST ${batchSize} records at once, against the INSERT, in records`,
  each: batchSize,
  // Fewer, since each has a thousand under way.
  connections: 8,
  atLeast: 4,
});

interface RecordsRow {
  name: string;
  what: string;
  atLeast: number;
  idempotent?: boolean;
  each?: number;
  connections?: number;
}

function recordsRow({ name, what, atLeast, idempotent = false, each = 1, connections }: RecordsRow): Row {
  return duelRow({
    name,
    what,
    peer: (fixture) => bareInserts(fixture, { body: { name: 'Cold room 4' }, idempotent }),
    async holdfast(fixture) {
      const service = await fixture.service();
      const postgres = await fixture.postgres();
      const addresses = await makeVaults(service, 16);
      const headers = keyHeaders(service);
      const post = (path: string, body: object) => jsonPost(path, { headers, body, idempotent });
      const requests = Array.from({ length: 64 }, (_, number) => {
        const vaultAddress = addresses[number % addresses.length];
        if (each === 1) return post(recordsPath, { vaultAddress, ...reading(number) });
        const batch = Array.from({ length: each }, (_, place) => reading(number * each + place));
        return post(`${recordsPath}/batch`, { vaultAddress, records: batch });
      });
      return {
        url: service.url,
        requests,
        processes: () => processesOf(service),
        countRows: () => postgres.countRows(holdfastDatabase, 'records'),
        each,
        ...(connections !== undefined && { connections }),
      };
    },
    atLeast,
    freshIds: idempotent,
    unit: each === 1 ? 'req/s' : 'records/s',
  });
}
