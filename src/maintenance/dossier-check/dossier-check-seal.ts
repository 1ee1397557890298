/**
 * The seal of a dossier: the proof that the vault which owns the asset sealed dossier.json, and with it the hash of every other
 * file. Whatever the seal covers was neither changed nor left out since.
 */
import type { Proof } from '../../proof/verify/proof.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import { parseJsonText } from '../../runtime/json-text.ts';
import type { CheckedAsset } from './dossier-check-asset.ts';
import type { FindingsLog } from './dossier-findings.ts';
import { type Dossier, dossierPaths } from './dossier-format.ts';
import { ownershipFault } from './dossier-ownership.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

/** `unowned`: the seal holds, but nothing proves that its vault owns the asset. */
export type SealState = 'valid' | 'invalid' | 'missing' | 'unowned';

export interface SealCheckDeps extends Pick<CheckedAsset, 'owned' | 'isProven'> {
  dossier: Dossier;
  /** The bytes of dossier.json. */
  summary: Uint8Array;
  /** The proof as text; null when there is none. */
  proof: string | null;
  findings: FindingsLog;
  options: DossierVerifyOptions;
}

export async function checkSeal(deps: SealCheckDeps): Promise<SealState> {
  const { summary, proof: text, findings, options } = deps;
  if (text === null) return 'missing';
  const { steps } = await verifyProof(text, { ...options, content: summary });
  if (!findings.steps(dossierPaths.seal, steps)) return 'invalid';
  const proof = parseJsonText(text) as Proof;
  const wrong = mismatch(deps, proof);
  if (wrong !== null) {
    findings.fault(dossierPaths.seal, `is not the proof of this dossier: ${wrong}`);
    return 'invalid';
  }
  return deps.isProven ? 'valid' : 'unowned';
}

function mismatch({ dossier, owned }: SealCheckDeps, proof: Proof): string | null {
  const { kind, subject, content, claims, leaf } = proof;
  if (kind !== 'dossier') return `its kind is ${kind}`;
  if (content.canonicalization !== 'raw') return 'it is not about the bytes of the file';
  if (subject.workspaceId !== dossier.workspaceId || subject.id !== dossier.dossierId) {
    return `its subject is ${subject.id}`;
  }
  if (claims?.assetId !== dossier.asset.assetId) return 'it names another asset';
  return ownershipFault(owned, leaf.values[6], dossier.madeAt);
}
