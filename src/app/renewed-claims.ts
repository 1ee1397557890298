/** What leaves of an earlier proof format claim in addition when they are hashed anew. */
import type { AddedClaims } from '../anchoring/leaf-renewal.ts';
import { entryClaims, findEntryPlaces } from '../maintenance/entries/entry-chain.ts';

export const renewedClaims: AddedClaims[] = [
  {
    // Entries were not chained.
    kind: 'maintenance',
    async find(db, leaves) {
      const places = await findEntryPlaces(
        db,
        leaves.map(({ workspaceId, subjectId }) => ({ workspaceId, maintenanceId: subjectId })),
      );
      return places.map(
        (place) =>
          place && {
            follows: place.previousId,
            claims: (previousEntry) => entryClaims(place.assetId, { number: place.number, previousEntry }),
          },
      );
    },
  },
];
