/** What to do about damaged results of the embedded chain: they can be made again as long as the journal is right. */

const resultTables =
  'embedded_chain_results, embedded_chain_transactions, embedded_chain_nodes and embedded_chain_replaced';

export const makeAgain = `Rows were changed in the database. Make a backup, stop the service, and delete all rows of ${resultTables}: the next start executes the journal again. If it refuses to, the journal was changed too: restore an older backup.`;

export const journalChanged =
  'The journal was changed, from which everything else is made: restore the row of embedded_chain_blocks from a backup, and delete nothing.';

export const nodeMissing = `The service makes the state again from the journal as soon as a block needs what is missing. To have it made now, stop the service and delete all rows of ${resultTables}: the next start executes the journal again.`;
