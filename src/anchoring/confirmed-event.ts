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
  return async (_db, leaves) =>
    leaves
      .filter(({ announcedBefore }) => !announcedBefore)
      .map((leaf) => {
        const facts: Record<string, unknown> = {
          [subject]: leaf.subjectId,
          vault_id: leaf.vaultId,
          version: leaf.version,
          tx_hash: leaf.transactionHash,
          block_number: leaf.blockNumber,
          anchored_at: leaf.anchoredAt.toISOString(),
          ...claimed(leaf, claims),
        };
        const data = Object.fromEntries(members.map((member) => [member, facts[member]])) as never;
        return eventWrite({ workspaceId: leaf.workspaceId, type, at: new Date(), data });
      });
}

/** Values of the leaf's claims, by their names in the event. */
function claimed(leaf: AnchoredLeaf, names: Record<string, string>): Record<string, unknown> {
  const wanted = Object.entries(names);
  if (wanted.length === 0) return {};
  const claims = JSON.parse(leaf.claims ?? '{}') as Record<string, unknown>;
  return Object.fromEntries(
    wanted.map(([member, name]) => {
      // A missing claim is an error: kinds with claims in their event are never erased.
      if (claims[name] === undefined)
        throw new Error(`the leaf of ${leaf.subjectId} does not say its ${name}`);
      return [member, claims[name]];
    }),
  );
}
