/**
 * The seal of a dossier: the proof that the vault which owns the asset sealed dossier.json, and with it the hash of every other
 * file. Whatever the seal covers was neither changed nor left out since. When that was is what a trusted clock says of the
 * seal, not what dossier.json says of itself.
 */
import type { Proof } from '../../proof/verify/proof.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import { parseJsonText } from '../../runtime/json-text.ts';
import type { CheckedAsset } from './dossier-check-asset.ts';
import type { FindingsLog } from './dossier-findings.ts';
import { type Dossier, dossierPaths } from './dossier-format.ts';
import { sealedByOwner } from './dossier-ownership.ts';
import { isLongBefore, statementFault, type Vouched } from './dossier-times.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

/**
 * `unowned`: the seal holds, but nothing proves that its vault owns the asset. `former`: its vault has given the asset away,
 * and no trusted clock shows that it sealed the dossier before.
 */
export type SealState = 'valid' | 'invalid' | 'missing' | 'unowned' | 'former';

export interface CheckedSeal {
  state: SealState;
  /** Since when, at the latest, the seal exists; null if no trusted clock vouches for it. */
  sealed: Vouched | null;
}

export interface SealCheckDeps extends Pick<CheckedAsset, 'owned' | 'isProven'> {
  dossier: Dossier;
  /** The bytes of dossier.json. */
  summary: Uint8Array;
  /** The proof as text; null when there is none. */
  proof: string | null;
  findings: FindingsLog;
  options: DossierVerifyOptions;
}

export async function checkSeal(deps: SealCheckDeps): Promise<CheckedSeal> {
  const { dossier, owned, summary, proof: text, findings, options } = deps;
  if (text === null) return { state: 'missing', sealed: null };
  const { steps, vouchers } = await verifyProof(text, { ...options, content: summary });
  if (!findings.steps(dossierPaths.seal, steps)) return { state: 'invalid', sealed: null };
  const proof = parseJsonText(text) as Proof;
  const [sealed = null] = vouchers;
  const { madeAt } = dossier;
  const owner = sealedByOwner(owned, { vault: proof.leaf.values[6], sealed, madeAt });
  const wrong = mismatch(dossier, proof) ?? (typeof owner === 'object' ? owner.fault : null);
  if (wrong !== null) {
    findings.fault(dossierPaths.seal, `is not the proof of this dossier: ${wrong}`);
    return { state: 'invalid', sealed: null };
  }
  const untrue = statementFault('created', madeAt, sealed);
  if (untrue !== null) findings.fault(dossierPaths.summary, untrue);
  if (isLongBefore(madeAt, sealed)) findings.gap(lateSeal);
  if (!deps.isProven) return { state: 'unowned', sealed };
  return { state: owner === 'unknown' ? 'former' : 'valid', sealed };
}

const lateSeal =
  'That the dossier was created when it says: the first trusted clock that vouches for its seal is more than 24 hours later. The seal may be as late as that.';

function mismatch(dossier: Dossier, { kind, subject, content, claims, leaf }: Proof): string | null {
  if (kind !== 'dossier') return `its kind is ${kind}`;
  if (content.canonicalization !== 'raw') return 'it is not about the bytes of the file';
  if (subject.workspaceId !== dossier.workspaceId || subject.id !== dossier.dossierId) {
    return `its subject is ${subject.id}`;
  }
  if (claims?.assetId !== dossier.asset.assetId) return 'it names another asset';
  const owner = dossier.owner.address.toLowerCase();
  const [, , , , , , vault] = leaf.values;
  return vault === owner
    ? null
    : `it is sealed by ${vault}, but the owner of the asset in dossier.json is ${owner}`;
}
