/** All mistakes in the second verifier. */
import type { Mutation } from '../mutation.ts';
import { algorithmsInPython } from './algorithms.ts';
import { certificatesInPython } from './certificates.ts';
import { documentsInPython } from './documents.ts';
import { evmInPython } from './evm.ts';
import { limitsInPython } from './limits.ts';
import { listsInPython } from './lists.ts';
import { opentimestampsInPython } from './opentimestamps.ts';
import { partsInPython } from './parts.ts';
import { proofsInPython } from './proofs.ts';
import { signedInPython } from './signed.ts';
import { tokensInPython } from './tokens.ts';

export const pythonMutations: Mutation[] = [
  ...documentsInPython,
  ...proofsInPython,
  ...evmInPython,
  ...opentimestampsInPython,
  ...tokensInPython,
  ...algorithmsInPython,
  ...certificatesInPython,
  ...limitsInPython,
  ...listsInPython,
  ...partsInPython,
  ...signedInPython,
];
