/** Begins and ends the line of an endpoint, in the transaction that changes the endpoint. */
import type { Db } from '../../db/database.ts';
import { readTail } from '../../events/feed.ts';
import { endLine, openLine } from './lines.store.ts';

export interface LineChanges {
  /** Later events get their deliveries from the line. */
  open(db: Db, endpoint: { workspaceId: string; id: string }): Promise<void>;
  end(db: Db, endpointId: string): Promise<void>;
}

export const lineChanges: LineChanges = {
  async open(db, { workspaceId, id }) {
    // Whatever is committed after this transaction comes behind that in the feed.
    await openLine(db, { workspaceId, endpointId: id, position: await readTail(db) });
  },
  end: endLine,
};
