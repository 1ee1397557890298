/** Every kind of thing that is anchored: what its leaves call it, and what people do. `anchoring/kinds.ts` says the rest. */

export const kindLabels = {
  record: 'Record',
  file: 'File',
  asset: 'Asset',
  transfer: 'Transfer',
  validation: 'File validation',
  maintenance: 'Maintenance entry',
  signoff: 'Sign-off',
  'audit-log': 'Audit log',
} as const;

export type Kind = keyof typeof kindLabels;

/** A document may be of a kind that came later. */
export function labelOf(kind: string): string {
  return Object.hasOwn(kindLabels, kind) ? kindLabels[kind as Kind] : kind;
}
