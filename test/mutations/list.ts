/** All mutations, by area. */
import { accessMutations } from './access.ts';
import { chainMutations } from './chain.ts';
import { clockMutations } from './clocks.ts';
import { digestMutations } from './digests.ts';
import { evidenceMutations } from './evidence.ts';
import { historyMutations } from './histories.ts';
import { inclusionMutations } from './inclusions.ts';
import type { Mutation } from './mutation.ts';
import { nodeMutations } from './nodes.ts';
import { openTimestampsMutations } from './opentimestamps.ts';
import { pythonMutations } from './python/all.ts';
import { shapeMutations } from './shapes.ts';
import { storageMutations } from './storage.ts';
import { tokenAlgorithmMutations } from './token-algorithms.ts';
import { tokenCertificateMutations } from './token-certificates.ts';
import { tokenWorkMutations } from './token-work.ts';
import { tokenMutations } from './tokens.ts';
import { verifierMutations } from './verifier.ts';
import { webhookMutations } from './webhooks.ts';

export const mutations: Mutation[] = [
  ...evidenceMutations,
  ...verifierMutations,
  ...shapeMutations,
  ...digestMutations,
  ...clockMutations,
  ...nodeMutations,
  ...inclusionMutations,
  ...openTimestampsMutations,
  ...tokenMutations,
  ...tokenCertificateMutations,
  ...tokenAlgorithmMutations,
  ...tokenWorkMutations,
  ...historyMutations,
  ...chainMutations,
  ...webhookMutations,
  ...accessMutations,
  ...storageMutations,
  ...pythonMutations,
];
