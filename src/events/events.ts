/** Events: written to the outbox in the same commit as their change, and never changed afterwards. */
import type { Write } from '../db/writes.ts';
import { newId } from '../runtime/ids.ts';
import type { EventData, EventType } from './catalogue.ts';

export interface NewEvent<T extends EventType> {
  workspaceId: string;
  type: T;
  at: Date;
  data: EventData[T];
}

/** The row of an event. Its envelope is the exact text that is sent and served from now on. */
export function eventWrite<T extends EventType>({ workspaceId, type, at, data }: NewEvent<T>): Write {
  const id = newId('evt');
  const envelope = JSON.stringify({ id, type, timestamp: at.toISOString(), workspace_id: workspaceId, data });
  return { table: 'events', row: { workspace_id: workspaceId, id, type, envelope, created_at: at } };
}
