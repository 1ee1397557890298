/** Asks until there is an answer: what an actor of the load does with every request. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Client, Ended } from './client.ts';
import type { Journal } from './journal.ts';

export interface Asking {
  /** Asks until there is an answer that says yes or no. */
  ask(call: Call, onLost?: () => void): Promise<Ended>;
  /** A request that is in order must be acknowledged in the end. */
  expectYes(call: Call, onLost?: () => void): Promise<Ended>;
}

export function createAsking(client: Client, journal: Journal): Asking {
  async function ask(call: Call, onLost: () => void = () => {}): Promise<Ended> {
    for (;;) {
      const ended = await client(call);
      const again = ended.json?.errorCode === 'idempotency_in_progress';
      if ((ended.outcome === 'acknowledged' || ended.outcome === 'refused') && !again) return ended;
      if (ended.outcome !== 'unsent' && !again) onLost();
      await sleep(50);
    }
  }

  return {
    ask,
    async expectYes(call, onLost) {
      const ended = await ask(call, onLost);
      if (ended.outcome !== 'acknowledged')
        journal.complaints.push(
          `${call.method} ${call.path} was refused: ${ended.status} ${JSON.stringify(ended.json)}`,
        );
      return ended;
    },
  };
}
