/** The event for a confirmed leaf, for every kind that has an event of its own. */
import { eventCatalogue } from '../events/catalogue.ts';
import { eventWrite } from '../events/events.ts';
import type { Kind } from '../proof/kinds.ts';
import type { AnchoredLeaf, Confirm, Confirmations } from './announcer.ts';
import { type AnchoredKind, anchoredKinds } from './kinds.ts';

/** For all kinds whose confirmation only emits an event. */
export function confirmedEvents(): Confirmations {
  const kinds = Object.entries(anchoredKinds) as [Kind, AnchoredKind][];
  return Object.fromEntries(
    kinds.flatMap(([kind, { confirmed }]) => (confirmed ? [[kind, emit(confirmed)]] : [])),
  );
}

function emit({ type, subject, claims = {} }: NonNullable<AnchoredKind['confirmed']>): Confirm {
  const members = Object.keys(eventCatalogue[type].data);
  const claimed = Object.entries(claims);
  return async (_db, leaves) => {
    const at = new Date();
    return leaves
      .filter(({ announcedBefore }) => !announcedBefore)
      .map((leaf) => {
        const facts: Record<string, unknown> = {
          [subject]: leaf.subjectId,
          vault_id: leaf.vaultId,
          version: leaf.version,
          tx_hash: leaf.transactionHash,
          block_number: leaf.blockNumber,
          anchored_at: leaf.anchoredAt.toISOString(),
        };
        if (claimed.length > 0) addClaims(facts, leaf, claimed);
        // In the order of the catalogue. Not by way of pairs: this runs once for every record.
        const data: Record<string, unknown> = {};
        for (const member of members) data[member] = facts[member];
        return eventWrite({ workspaceId: leaf.workspaceId, type, at, data: data as never });
      });
  };
}

/** Adds values of the leaf's claims, by their names in the event. */
function addClaims(facts: Record<string, unknown>, leaf: AnchoredLeaf, wanted: [string, string][]): void {
  const claims = JSON.parse(leaf.claims ?? '{}') as Record<string, unknown>;
  for (const [member, name] of wanted) {
    // A missing claim is an error: kinds with claims in their event are never erased.
    if (claims[name] === undefined) {
      throw new Error(`the leaf of ${leaf.subjectId} does not say its ${name}`);
    }
    facts[member] = claims[name];
  }
}
