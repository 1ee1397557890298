/** How far something is anchored, in the order of the steps. */

export const anchorStatuses = ['pending', 'batched', 'submitted', 'confirmed', 'finalized'] as const;
export type AnchorStatus = (typeof anchorStatuses)[number];
