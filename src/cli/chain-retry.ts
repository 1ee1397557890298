/** Implements `holdfast chain retry`: lets the leading node resend batches that were set aside. */
import {
  findBatchStatus,
  listSetAside,
  type SetAsideBatch,
  sendAgain,
} from '../anchoring/batching/set-aside.ts';
import type { Db } from '../db/database.ts';
import { OperatorError } from '../runtime/errors.ts';
import { table } from './command.ts';

/** Further batches are counted but not named. */
export const mostNamed = 20;

export async function retryBatches(db: Db, which: number | 'all' | null): Promise<SetAsideBatch[]> {
  if (which === null) {
    const some = await listSetAside(db, mostNamed);
    throw new OperatorError(
      some.length === 0
        ? noneSetAside
        : `Name a batch, or give --all. Set aside: ${some.map(({ id }) => id).join(', ')}${some.length === mostNamed ? ' and perhaps more' : ''}.`,
    );
  }
  const retried = await sendAgain(db, which);
  if (retried.length === 0) {
    throw new OperatorError(which === 'all' ? noneSetAside : await whyNot(db, which));
  }
  return retried;
}

export function tellRetried(retried: SetAsideBatch[]): string {
  const rows = retried.map(({ id, size, reason }) => [String(id), String(size), reason ?? 'unknown']);
  return `${table(['BATCH', 'LEAVES', 'WAS SET ASIDE BECAUSE'], rows)}\n\nThe leading node sends ${rows.length === 1 ? 'it' : 'them'} within seconds. See "holdfast chain status".`;
}

const noneSetAside = 'No batch is set aside.';

async function whyNot(db: Db, id: number): Promise<string> {
  const status = await findBatchStatus(db, id);
  return status === null ? `There is no batch ${id}.` : `Batch ${id} is not set aside: it is ${status}.`;
}
