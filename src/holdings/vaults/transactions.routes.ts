/** /platform/vaults/{vaultAddress}/transactions */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { CursorList, Cursors } from '../../http/api/cursor.ts';
import { linkNextPage, pageParameters } from '../../http/api/page.ts';
import { address, dateTime, like, named, sample, text, unshown } from '../../runtime/schemas.ts';
import type { VaultTransaction } from './transactions.store.ts';
import type { Place, Transactions } from './transactions.ts';
import type { Vaults } from './vaults.ts';

const TransactionSchema = named(
  { title: 'Transaction', description: 'A transaction of a vault, as recorded on the chain' },
  Type.Object({
    hash: text(sample.transactionHash),
    from: text(sample.otherVaultAddress, { description: 'EIP-55' }),
    to: text(sample.vaultAddress, { description: 'EIP-55; for a contract creation, the created contract' }),
    value: text('250000000000000000', { description: 'In wei, as a decimal string' }),
    timestamp: like(dateTime, sample.anchoredAt),
  }),
);

const day = (example: string, description: string) =>
  Type.Optional(text(example, { format: 'date', description }));

export interface TransactionRoutesDeps {
  vaults: Vaults;
  transactions: Transactions;
  cursors: Cursors;
}

export function transactionRoutes(app: Api, { vaults, transactions, cursors }: TransactionRoutesDeps): void {
  app.post(
    `${apiBase}/platform/vaults/:vaultAddress/transactions`,
    {
      config: { scope: 'vaults:read', tellsOfChain: true, freshSession: false },
      schema: {
        operationId: 'listVaultTransactions',
        summary: 'List the transactions of a vault',
        description:
          'Newest first: every mined transaction from or to the address of the vault, and every anchor transaction that carried its content. X-Indexed-Block is the number of the newest indexed block; it is absent before the first. X-Next-Cursor is the cursor of the next page; it is absent on the last one. After a reorg, a page repeats transactions that moved past the cursor, so that none is missed; it may then have more items than the limit.',
        tags: ['vaults'],
        params: Type.Object({ vaultAddress: address }),
        body: Type.Object(
          {
            cursor: unshown(
              Type.String({
                maxLength: 2048,
                description: 'X-Next-Cursor of the previous page, unchanged, or the hash of its last item.',
              }),
            ),
            initialDate: day('2026-03-01', 'First UTC day, inclusive.'),
            finalDate: day('2026-03-31', 'Last UTC day, inclusive.'),
            limit: Type.Optional(pageParameters.limit),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Array(TransactionSchema, {
            headers: {
              'X-Next-Cursor': Type.String({ description: 'Cursor of the next page' }),
              'X-Indexed-Block': Type.Integer({ description: 'Number of the newest indexed block' }),
            },
          }),
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { cursor, initialDate, finalDate, limit = 100 } = request.body;
      const vaultId = await vaults.idOf(workspaceId, request.params.vaultAddress);
      const filters = { vaultId, initialDate, finalDate };
      const list = { name: 'vault-transactions', workspaceId, filters };
      const page = await transactions.list({
        workspaceId,
        ...filters,
        after: cursor === undefined ? null : readPlace(cursors, list, cursor),
        limit,
      });
      if (page.indexedBlock !== null) reply.header('x-indexed-block', page.indexedBlock);
      if (page.next) linkNextPage(request, reply, writePlace(cursors, list, page.next));
      // As bytes, because the length of a text would have to be counted; it is all ASCII.
      const bytes = Buffer.from(toJson(page.transactions), 'latin1');
      return reply.type('application/json; charset=utf-8').send(bytes as never);
    },
  );
}

function readPlace(cursors: Cursors, list: CursorList, cursor: string): Place {
  if (/^0x[0-9a-fA-F]{64}$/.test(cursor)) return { hash: cursor as Place['hash'] };
  const [hash, blockNumber, index, reorgId] = cursors.read(list, cursor) as [
    Place['hash'],
    number,
    number,
    number,
  ];
  return { hash, stood: { blockNumber, index, reorgId } };
}

function writePlace(cursors: Cursors, list: CursorList, { hash, stood }: Required<Place>): string {
  return cursors.write(list, [hash, stood.blockNumber, stood.index, stood.reorgId]);
}

/**
 * Written by hand to match the schema: hex digits, decimals and times need no escaping, and serialising a page of a hundred
 * took longer than selecting it.
 */
function toJson(transactions: VaultTransaction[]): string {
  const writeTime = createTimeWriter();
  const items = transactions.map(
    ({ hash, from, to, valueWei, timeSeconds }) =>
      `{"hash":"${hash}","from":"${from}","to":"${to}","value":"${valueWei}","timestamp":"${writeTime(timeSeconds)}"}`,
  );
  return `[${items.join(',')}]`;
}

const daySeconds = 86_400;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** The same as toISOString, which took most of the time of writing a page; many in a row are of the same day. */
function createTimeWriter(): (timeSeconds: number) => string {
  let day = Number.NaN;
  let date = '';
  return (timeSeconds) => {
    const ofDay = Math.floor(timeSeconds / daySeconds);
    if (ofDay !== day) {
      day = ofDay;
      date = new Date(day * daySeconds * 1000).toISOString().slice(0, -'00:00:00.000Z'.length);
    }
    const seconds = timeSeconds - day * daySeconds;
    const hour = twoDigits[Math.floor(seconds / 3600)];
    return `${date}${hour}:${twoDigits[Math.floor(seconds / 60) % 60]}:${twoDigits[seconds % 60]}.000Z`;
  };
}
