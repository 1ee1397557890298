/** How far something is anchored, in the order in which it gets there. */

export const anchorStatuses = ['pending', 'batched', 'submitted', 'confirmed', 'finalized'] as const;
export type AnchorStatus = (typeof anchorStatuses)[number];
