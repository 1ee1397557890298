/** Gives committed events their place in the feed. */
import type { Db } from '../db/database.ts';
import { type Bell, type Loop, repeating } from '../loop.ts';
import { orderEvents } from './events.ts';

export function eventOrderLoop(db: Db, bell: Bell): Loop {
  return repeating({ name: 'event-order', restMs: 250, bell, step: () => orderEvents(db) });
}
