/** Documents whose tokens have as many signatures to check as a verifier checks, and documents that have one more. */
import { type TimestampAnchor, tokenIn } from '../../../src/proof/rfc3161/anchor.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { createTestAuthority, pem, stampedAt, type TestAuthority } from '../timestamps/test-authority.ts';
import { basicConstraints, keyUsage, makeCertificate, nameOf } from '../timestamps/test-certificates.ts';
import { type TestKey, testKey } from '../timestamps/test-keys.ts';
import { type BaseThing, givenWith } from './base-batches.ts';
import { imprintOf } from './clocks.ts';
import { anchoredBy } from './good-vectors.ts';
import { renewalOf } from './renewal-batch.ts';
import { genTime, judgedAt } from './token-vector.ts';
import { expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

const day = 86_400_000;
const authority = createTestAuthority({ around: stampedAt });
const nobody = testKey('p256', 'nobody');
const ownRoot = pem(authority.root.certificate);

type Root = Proof['merkle']['root'];
type Crowded = { named: string; keys: TestKey[]; serial?: number };

/** As many certificates of one name as there are keys: none signed another, but each of them could have. */
function crowd(root: Root, { named, keys, serial = 30 }: Crowded): TimestampAnchor {
  const name = nameOf(named);
  const crowded = createTestAuthority({ around: stampedAt, signer: { issuer: name, signedBy: nobody } });
  const certificates = keys.map((key, at) =>
    makeCertificate({
      ...{ subject: name, issuer: name, key, signedBy: nobody, serial: serial + at },
      ...{ notBefore: stampedAt - day, notAfter: stampedAt + 365 * day },
      extensions: [basicConstraints(true), keyUsage('certSign')],
    }),
  );
  const imprint = imprintOf(root);
  return crowded.anchor(
    crowded.stamp({ imprint, certificates: [crowded.signer.certificate, ...certificates] }),
  );
}

const keysOf = (named: string, count: number) =>
  Array.from({ length: count }, (_, at) => testKey('p256', `${named} ${at}`));
/** A token, and each of `count` keys for each of `count` + 1 certificates. */
const crowdOf = (root: Root, named: string, count: number) =>
  crowd(root, { named, keys: keysOf(named, count) });

/** A token, its signer, and the intermediate: three checks. */
function good(root: Root, lists: (authority: TestAuthority) => Uint8Array[] = () => []): TimestampAnchor {
  return authority.anchor(authority.stamp({ imprint: imprintOf(root) }), { crls: lists(authority) });
}

/** A token alone: one check. */
function alone(root: Root): TimestampAnchor {
  return authority.anchor(authority.stamp({ imprint: imprintOf(root), certificates: [] }));
}

/** Four anchors: 723 checks, and the three of the one that counts, which comes last. */
function large(root: Root): TimestampAnchor[] {
  return [...['A', 'B', 'C'].map((name) => crowdOf(root, `Crowd ${name}`, 15)), good(root)];
}

/** 42 checks. */
function small(root: Root): TimestampAnchor[] {
  return [crowdOf(root, 'Crowd D', 5), crowdOf(root, 'Crowd E', 2), crowdOf(root, 'Crowd F', 1), alone(root)];
}

export async function tokenWorkVectors(file: BaseThing): Promise<NamedVector[]> {
  const { root } = file.proof.merkle;
  const base = large(root);
  const most = [...base, ...small(root)];
  const withList = [...base.slice(0, 3), good(root, ({ crl }) => [crl('intermediate')]), ...small(root)];
  const twin = createTestAuthority({ around: stampedAt, root: { key: nobody, signedBy: nobody } });
  const twoRoots = [ownRoot, pem(twin.root.certificate)];
  const [one, two, three] = [100, 200, 300].map((serial) =>
    crowd(root, { named: 'Crowd G', keys: Array(15).fill(nobody), serial }),
  ) as [TimestampAnchor, TimestampAnchor, TimestampAnchor];
  const unreadable: TimestampAnchor = { ...good(root), certificates: ['MAA='] };
  const rows: [name: string, about: string, anchors: TimestampAnchor[], holds: boolean, roots?: string[]][] =
    [
      ['768', 'Its tokens have 768 signatures to check.', most, true],
      ['769-by-a-token', 'One token more than 768 checks.', [...most, alone(root)], false],
      ['769-by-a-list', 'One list more than 768 checks.', withList, false],
      [
        '769-by-a-root',
        'By a second root of the same name, one more than 768 checks.',
        most,
        false,
        twoRoots,
      ],
      [
        'repeated',
        'Three tokens come twice: each signature counts once.',
        [...base, ...base.slice(0, 3)],
        true,
      ],
      [
        'of-one-key',
        'Three times fifteen certificates of one name and one key: each counts once.',
        [...base.slice(0, 2), one, ...base.slice(3), two, three],
        true,
      ],
      ['unreadable', 'What cannot be read does not count.', [...most, unreadable], true],
      [
        '769-and-unreadable',
        'With 769 checks, what cannot be read fails all the same.',
        [...most, alone(root), unreadable],
        false,
      ],
    ];
  const vectors = rows.map(([name, about, anchors, holds, tsaRoots = [ownRoot]]) => {
    const proof = anchoredBy(file.proof, ...anchors);
    const named = (isWanted: (anchor: TimestampAnchor, at: number) => boolean) =>
      anchors.flatMap((anchor, at) => (isWanted(anchor, at) ? [`token ${at}`] : []));
    // Only the fourth can pass.
    const skip = named((anchor, at) => anchor !== unreadable && !(holds && at === 3));
    const outcome: Outcome = {
      fail: named((anchor) => anchor === unreadable),
      ...(holds ? { skip, time: genTime } : { skip: [...skip, 'time'], time: null }),
    };
    return {
      ...{ name: `rfc3161-work-${name}`, about, ...givenWith(file, proof) },
      ...{ trust: trustOf({ tsaRoots }), at: judgedAt, expected: expect(proof, outcome) },
    };
  });
  return [...vectors, await renewedVector(file)];
}

/** The tokens of a renewal count with those of the document. */
async function renewedVector(file: BaseThing): Promise<NamedVector> {
  const { root } = file.proof.merkle;
  const first = good(root);
  const stamped = anchoredBy(file.proof, first, ...large(root).slice(0, 3));
  const renewal = await renewalOf(
    tokenIn(first),
    { renewal: null, anchor: 0 },
    {
      clocks: ({ root }) => [crowdOf(root, 'Crowd H', 15)],
    },
  );
  const proof = { ...stamped, renewals: [renewal] };
  return {
    ...{ name: 'rfc3161-work-renewal', about: 'With the token of a renewal there are more than 768 checks.' },
    ...{ ...givenWith(file, proof), trust: trustOf({ tsaRoots: [ownRoot] }), at: judgedAt },
    expected: expect(proof, { skip: ['token', 'time'], time: null }),
  };
}
