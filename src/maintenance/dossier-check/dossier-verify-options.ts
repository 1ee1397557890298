/** What the check of a dossier passes on to the verifier of each proof: the chain to ask, and whom to trust. */
import type { VerifyOptions } from '../../proof/verify/verify.ts';

export type DossierVerifyOptions = Omit<VerifyOptions, 'content' | 'salt'>;
