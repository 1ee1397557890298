/**
 * Checks the passkeys of a dossier: what was anchored of them, and that each sign-off by passkey was made with one that was
 * the worker's at that time. Pure, and safe in browsers.
 */
import type { LeafValues } from '../../proof/leaf.ts';
import { createPasskeyChain, type PasskeyChain } from '../../proof/signoff/passkey-chain.ts';
import type { PasskeyRegistration, PasskeyRevocation } from '../../proof/signoff/passkey-document.ts';
import { isAbout } from '../../proof/verify/passkey-step.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import { type DossierFiles, hasDigest, linesOf, parseLine } from './dossier-files.ts';
import type { FindingsLog } from './dossier-findings.ts';
import { type Dossier, dossierPaths, type PasskeyLine } from './dossier-format.ts';
import { isLongBefore, statementFault } from './dossier-times.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

export interface PasskeyCheckDeps {
  files: DossierFiles;
  findings: FindingsLog;
  dossier: Pick<Dossier, 'workspaceId'>;
  options: DossierVerifyOptions;
}

export type CheckedPasskeys = Pick<PasskeyChain, 'judge'>;

export async function checkPasskeys({
  files,
  findings,
  dossier,
  options,
}: PasskeyCheckDeps): Promise<CheckedPasskeys> {
  const { workspaceId } = dossier;
  const chain = createPasskeyChain(workspaceId);

  async function check(line: PasskeyLine): Promise<void> {
    const { workerId, number, hash, salt, document, proof } = line;
    const place = `Passkeys of ${workerId}, statement ${number}`;
    if (!hasDigest(salt, document, hash)) findings.fault(place, 'does not match its hash: it was changed');
    if (proof === null && line.unprovable) {
      findings.fault(place, 'has no proof, because what was stored is not what was anchored');
    } else if (proof === null) findings.gap(unanchored);
    const leaf = proof && (await checkProof(place, line, proof));
    for (const fault of await chain.add({ workerId, number, hash, document, leaf }))
      findings.fault(place, fault);
  }

  /** The leaf, if the proof holds and is about the statement. */
  async function checkProof(place: string, line: PasskeyLine, proof: Proof): Promise<LeafValues | null> {
    const { document } = line;
    const content = new TextEncoder().encode(JSON.stringify(document));
    const { steps, vouchers } = await verifyProof(proof, { ...options, content });
    if (!findings.steps(place, steps)) return null;
    findings.clocksOf(proof);
    const [vouched = null] = vouchers;
    const stated = statedTime(document);
    const untrue = statementFault('stated', stated, vouched);
    if (untrue !== null) findings.fault(place, untrue);
    if (isLongBefore(stated, vouched)) findings.gap(longBefore);
    if (isAbout(proof, { ...line, workspaceId })) return proof.leaf.values;
    findings.fault(place, 'has a proof of something else');
    return null;
  }

  const path = dossierPaths.passkeys;
  try {
    for await (const text of linesOf(files.open(path))) {
      const line = parseLine<PasskeyLine>(text, (message) => findings.fault(path, message));
      if (line) await check(line);
    }
  } catch (error) {
    findings.fault(path, `cannot be read: ${(error as Error).message}`);
  }
  return chain;
}

/** When it took effect. */
function statedTime(document: PasskeyLine['document']): string {
  return (document as PasskeyRegistration).receivedAt ?? (document as PasskeyRevocation).revokedAt;
}

const unanchored =
  'Passkeys whose registration or revocation was not anchored yet when the dossier was created.';
const longBefore =
  'When passkeys were registered and revoked: the time that they state is more than 24 hours before the first trusted clock that vouches for them.';
