/** Every anchored kind: its name in leaves and its label for people. `anchoring/kinds.ts` has the rest. */

export const kindLabels = {
  record: 'Record',
  file: 'File',
  asset: 'Asset',
  transfer: 'Transfer',
  validation: 'File validation',
  maintenance: 'Maintenance entry',
  signoff: 'Sign-off',
  passkey: 'Passkey of a worker',
  dossier: 'Dossier',
  'audit-log': 'Audit log',
} as const;

export type Kind = keyof typeof kindLabels;

/** A document may have a kind that this version does not know. */
export function labelOf(kind: string): string {
  return Object.hasOwn(kindLabels, kind) ? kindLabels[kind as Kind] : kind;
}
