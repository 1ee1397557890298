/** Each fault of a token, of its certificates and of its lists, about the root of the vectors: nothing but the fault is wrong. */
import type { Hex } from 'viem';
import type { TrustAnchor } from '../../../src/proof/rfc3161/certificates.ts';
import type { MadeCase } from '../timestamps/fault-case.ts';
import { pem, stampedImprint } from '../timestamps/test-authority.ts';
import { basicConstraints, keyUsage, makeCertificate } from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';
import type { BaseThing } from './base-batches.ts';
import { imprintOf } from './clocks.ts';
import { anchorVector, fails, holds, skips } from './token-vector.ts';
import { malformed, type NamedVector, type Outcome, trustOf } from './vector.ts';

/** A verifier of proofs has sent no request. */
const aboutRequests = /nonce of the request/;
/** The document is refused before the token is looked at. */
const aboutForm = /is not 1 to \d+ bytes|has \d+ items/;
/** Cases that only repeat others: a list that counts, and most reasons at other times and for the intermediate. */
const repeating =
  /^the same list, but not|^Test TSA revoked for reason [^4]\d?, (-60|0) s|^Test TSA CA revoked for reason ([^4]|4, (-60|0) s)/;

export async function tokenFaultVectors(file: BaseThing): Promise<NamedVector[]> {
  const { faults, revocations } = await casesAbout(file.proof.merkle.root);
  return [
    ...faults
      .filter(({ reason }) => !aboutRequests.test(reason.source))
      .map(({ name, status, reason, make }) => {
        const vector = caseVector(file, name, {
          made: make(true),
          outcome: status === 'fail' ? fails : skips,
        });
        return aboutForm.test(reason.source) ? { ...vector, expected: malformed('time') } : vector;
      }),
    ...revocations
      .filter(({ name }) => !repeating.test(name))
      .map(({ name, expected, make }) =>
        caseVector(file, `revocation: ${name}`, {
          made: make(),
          outcome: typeof expected === 'string' ? holds : fails,
        }),
      ),
  ];
}

/**
 * All of these cases are about one imprint, which is that of this root from here on. They are loaded afterwards, because
 * some encode it when they are loaded.
 */
async function casesAbout(root: Hex) {
  stampedImprint.set(imprintOf(root));
  const { tokenFaults } = await import('../timestamps/token-faults.ts');
  const { signatureFaults } = await import('../timestamps/signature-faults.ts');
  const { certificateFaults } = await import('../timestamps/certificate-faults.ts');
  const { limitFaults } = await import('../timestamps/limit-faults.ts');
  const { revocationCases } = await import('../timestamps/revocation-cases.ts');
  return {
    faults: [...tokenFaults, ...signatureFaults, ...certificateFaults, ...limitFaults],
    revocations: revocationCases,
  };
}

function caseVector(
  file: BaseThing,
  name: string,
  { made: { anchor, question }, outcome }: { made: MadeCase; outcome: Outcome },
): NamedVector {
  const { roots, policies } = question.trust;
  return anchorVector(file, anchor, {
    name: slug(name),
    about: `${name[0]?.toUpperCase()}${name.slice(1)}.`,
    outcome,
    trust: trustOf({
      tsaRoots: roots.map((root) => pem(certificateOf(root))),
      ...(policies.length > 0 ? { tsaPolicies: [...policies] } : {}),
    }),
    at: new Date(question.at).toISOString(),
  });
}

/** The certificate of a root of which only name, key and validity are known. */
function certificateOf({ subject, spki, notBefore, notAfter }: TrustAnchor): Uint8Array {
  const key = (['p256', 'p384', 'rsa'] as const)
    .map((kind) => testKey(kind, 'root'))
    .find((one) => Buffer.from(one.spki).equals(spki));
  if (!key) throw new Error('the key of a root is not known');
  return makeCertificate({
    ...{ subject, issuer: subject, key, signedBy: key, notBefore, notAfter },
    extensions: [basicConstraints(true), keyUsage('certSign', 'crlSign')],
  });
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/['’,]/g, '')
    .replace(/ -(\d)/g, ' minus $1')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
