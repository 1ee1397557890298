/**
 * Checks the passkeys of a dossier: what was anchored of them, and that each sign-off by passkey was made with one that was
 * the worker's at that time. Pure, and safe in browsers.
 */
import { toHex } from '../../proof/hex.ts';
import { leafHash } from '../../proof/leaf.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import {
  type PasskeyRegistration,
  type PasskeyRevocation,
  registrationFormat,
  revocationFormat,
} from '../signing/passkey-document.ts';
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

export interface CheckedPasskeys {
  /** What contradicts that the worker signed with this; empty if nothing does. */
  faults(document: SignoffDocument): string[];
}

interface Registered {
  line: PasskeyLine & { document: PasskeyRegistration };
  revokedAt: string | null;
}

export async function checkPasskeys({
  files,
  findings,
  dossier,
  options,
}: PasskeyCheckDeps): Promise<CheckedPasskeys> {
  /** By worker, in lower case, and number. */
  const registered = new Map<string, Registered>();
  /** The statement before, of the same worker. */
  let before: PasskeyLine | null = null;

  async function check(line: PasskeyLine): Promise<void> {
    const { workerId, number, hash, salt, document, proof } = line;
    const place = `Passkeys of ${workerId}, statement ${number}`;
    const isNext = before?.workerId === workerId;
    if (number !== (isNext ? (before?.number ?? 0) + 1 : 1))
      findings.fault(place, 'does not follow the one before');
    if (
      document.workspaceId !== dossier.workspaceId ||
      document.workerId !== workerId ||
      document.number !== number
    ) {
      findings.fault(place, 'is about something else');
    }
    if (!hasDigest(salt, document, hash)) findings.fault(place, 'does not match its hash: it was changed');
    const stated =
      document.format === registrationFormat
        ? document.confirmedAt
        : (document as PasskeyRevocation).revokedAt;
    if (proof === null) {
      if (line.unprovable)
        findings.fault(place, 'has no proof, because what was stored is not what was anchored');
      else
        findings.gap(
          'Passkeys whose registration or revocation was not anchored yet when the dossier was created.',
        );
    } else {
      const content = new TextEncoder().encode(JSON.stringify(document));
      const { steps, vouchers } = await verifyProof(proof, { ...options, content });
      findings.steps(place, steps);
      findings.clocksOf(proof);
      const [vouched = null] = vouchers;
      const untrue = statementFault('stated', stated, vouched);
      if (untrue !== null) findings.fault(place, untrue);
      if (isLongBefore(stated, vouched)) findings.gap(longBefore);
      const [, , , , version, previousLeaf] = proof.leaf.values;
      const isAbout =
        proof.kind === 'passkey' &&
        proof.subject.workspaceId === dossier.workspaceId &&
        proof.subject.id === workerId &&
        Number(version) === number &&
        proof.content.digest === hash;
      if (!isAbout) findings.fault(place, 'has a proof of something else');
      const last = isNext ? before?.proof : null;
      if (last && previousLeaf !== toHex(leafHash(last.leaf.values))) {
        findings.fault(place, 'has a proof that does not follow the one before');
      }
    }
    before = line;
    if (document.format === registrationFormat) {
      const about = line as Registered['line'];
      registered.set(keyOf(document.workerAddress, number), { line: about, revokedAt: null });
    } else if (document.format === revocationFormat) {
      const { registration, workerAddress, revokedAt } = document as PasskeyRevocation;
      const revoked = registered.get(keyOf(workerAddress, registration.number));
      if (revoked?.line.hash !== registration.hash)
        findings.fault(place, 'revokes a passkey that is not registered');
      else revoked.revokedAt ??= revokedAt;
    } else {
      findings.fault(place, 'has a format that is not known');
    }
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

  /** The time of a signature is in whole seconds. */
  const isAfter = (signedAt: string, at: string) => Date.parse(signedAt) > Date.parse(at);

  return {
    faults({ workerAddress, signedWith, signedAt, receivedAt = signedAt, workspaceId }) {
      if (signedWith?.method !== 'passkey') {
        const first = [...registered.values()].find(
          ({ line }) => line.document.workerAddress.toLowerCase() === workerAddress.toLowerCase(),
        );
        return first && isAfter(signedAt, first.line.document.confirmedAt)
          ? ['it was signed without a passkey, although the worker had one then']
          : [];
      }
      const { registration, credentialId, publicKey, rpId } = signedWith;
      const found = registered.get(keyOf(workerAddress, registration.number));
      if (!found) return ['the registration of its passkey is missing'];
      const { document, hash } = found.line;
      const isSame =
        hash === registration.hash &&
        document.workspaceId === workspaceId &&
        document.credentialId === credentialId &&
        document.publicKey === publicKey &&
        document.rpId === rpId;
      if (!isSame) return ['its passkey is not the one that the worker registered'];
      const faults: string[] = [];
      if (Date.parse(signedAt) + 1000 <= Date.parse(document.confirmedAt)) {
        faults.push('it was signed before anybody had confirmed whose passkey it is');
      }
      if (found.revokedAt !== null && isAfter(receivedAt, found.revokedAt)) {
        faults.push('its passkey had been revoked');
      }
      return faults;
    },
  };
}

const longBefore =
  'When passkeys were registered and revoked: the time that they state is more than 24 hours before the first trusted clock that vouches for them.';

function keyOf(address: string, number: number): string {
  return `${address.toLowerCase()} ${number}`;
}
