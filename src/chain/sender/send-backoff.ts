/** What keeps open transactions from being mined, and until when each is left alone. Kept in memory only. */

/**
 * - `funds`: the account cannot pay
 * - `fees`: the chain wants more than the cap allows
 * - `nonce`: another program used the nonce
 * - `refused`: a node refused it for another reason
 */
export interface Trouble {
  what: 'funds' | 'fees' | 'nonce' | 'refused';
  reason: string;
}

export interface SendBackoff {
  /** Leaves a transaction alone for a while. */
  hold(id: number): void;
  isHeld(id: number): boolean;
  /** False if the same kind of trouble is already known. */
  meet(id: number, trouble: Trouble): boolean;
  trouble(id: number): Trouble | null;
  clear(id: number): void;
  /** Forgets all others; the ids are in nonce order. */
  keepOnly(ids: readonly number[]): void;
  /** The trouble of the lowest nonce that has any. */
  first(): (Trouble & { outgoingId: number }) | null;
}

export function createSendBackoff(holdMs: number): SendBackoff {
  const held = new Map<number, number>();
  const troubles = new Map<number, Trouble>();
  let open: readonly number[] = [];
  return {
    hold: (id) => void held.set(id, performance.now() + holdMs),
    isHeld: (id) => (held.get(id) ?? 0) > performance.now(),
    meet(id, trouble) {
      const known = troubles.get(id);
      troubles.set(id, trouble);
      return known?.what !== trouble.what;
    },
    trouble: (id) => troubles.get(id) ?? null,
    clear(id) {
      held.delete(id);
      troubles.delete(id);
    },
    keepOnly(ids) {
      open = ids;
      for (const map of [held, troubles]) {
        for (const id of map.keys()) if (!ids.includes(id)) map.delete(id);
      }
    },
    first() {
      for (const outgoingId of open) {
        const trouble = troubles.get(outgoingId);
        if (trouble) return { ...trouble, outgoingId };
      }
      return null;
    },
  };
}
