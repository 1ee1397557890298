/** Implements `holdfast chain accept-reorg`: lets the indexer follow a reorganisation of blocks that counted as final. */
import type { Db } from '../../db/database.ts';
import { OperatorError } from '../../runtime/errors.ts';

export interface AcceptedReorg {
  /** Blocks up to this one still count as final. */
  finalBlock: number;
  /** The value before. */
  formerFinalBlock: number;
}

export async function acceptReorg(db: Db, block: number): Promise<AcceptedReorg> {
  return db.transaction().execute(async (db) => {
    const chain = await db
      .selectFrom('chain')
      .select(['embedded', 'final_number'])
      .forUpdate()
      .executeTakeFirst();
    if (!chain) throw new OperatorError('There is no chain yet: start the service first.');
    if (chain.embedded) throw new OperatorError('The embedded chain has no reorganisations.');
    if (chain.final_number <= block) {
      throw new OperatorError(
        `Blocks up to ${chain.final_number} count as final: the service follows a reorganisation after block ${block} without this command.`,
      );
    }
    await db.updateTable('chain').set({ final_number: block }).execute();
    return { finalBlock: block, formerFinalBlock: chain.final_number };
  });
}
