/** All mutations, by area. */
import { accessMutations } from './access.ts';
import { chainMutations } from './chain.ts';
import { evidenceMutations } from './evidence.ts';
import type { Mutation } from './mutation.ts';
import { storageMutations } from './storage.ts';
import { webhookMutations } from './webhooks.ts';

export const mutations: Mutation[] = [
  ...evidenceMutations,
  ...chainMutations,
  ...webhookMutations,
  ...accessMutations,
  ...storageMutations,
];
