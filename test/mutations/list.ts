/** All mutations, by area. */
import { accessMutations } from './access.ts';
import { chainMutations } from './chain.ts';
import { clockMutations } from './clocks.ts';
import { evidenceMutations } from './evidence.ts';
import { inclusionMutations } from './inclusions.ts';
import type { Mutation } from './mutation.ts';
import { openTimestampsMutations } from './opentimestamps.ts';
import { storageMutations } from './storage.ts';
import { tokenCertificateMutations } from './token-certificates.ts';
import { tokenMutations } from './tokens.ts';
import { verifierMutations } from './verifier.ts';
import { webhookMutations } from './webhooks.ts';

export const mutations: Mutation[] = [
  ...evidenceMutations,
  ...verifierMutations,
  ...clockMutations,
  ...inclusionMutations,
  ...openTimestampsMutations,
  ...tokenMutations,
  ...tokenCertificateMutations,
  ...chainMutations,
  ...webhookMutations,
  ...accessMutations,
  ...storageMutations,
];
