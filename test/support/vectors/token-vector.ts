/** A vector about one timestamp token: the usual authority, with what the vector changes. */
import type { Hex } from 'viem';
import type { TimestampAnchor } from '../../../src/proof/rfc3161/anchor.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  pem,
  stampedAt,
  type TestAuthority,
} from '../timestamps/test-authority.ts';
import type { TokenOptions } from '../timestamps/test-token.ts';
import { type BaseThing, givenWith } from './base-batches.ts';
import { imprintOf } from './clocks.ts';
import { anchoredBy } from './good-vectors.ts';
import { expect, type NamedVector, type Outcome, type TrustFile, trustOf } from './vector.ts';

/** When the usual token was made, and when it is judged. */
export const genTime = '2025-06-15T12:00:00Z';
export const judgedAt = '2026-01-01T00:00:00Z';

export const holds: Outcome = { time: genTime };
export const fails: Outcome = { fail: ['token'], skip: ['time'], time: null };
export const skips: Outcome = { skip: ['token', 'time'], time: null };

export interface TokenCase {
  authority?: AuthorityOptions;
  token?: (authority: TestAuthority, root: Hex) => Partial<TokenOptions>;
  /** Beside the token. */
  certificates?: (authority: TestAuthority) => Uint8Array[];
  crls?: (authority: TestAuthority) => Uint8Array[];
  /** Of the finished token. */
  edit?: (token: Uint8Array) => Uint8Array;
  trust?: (authority: TestAuthority) => Omit<TrustFile, 'format'>;
  at?: string;
}

export type TokenRow = [name: string, about: string, outcome: Outcome, given: TokenCase];

export function tokenVector(file: BaseThing, [name, about, outcome, given]: TokenRow): NamedVector {
  const { root } = file.proof.merkle;
  const authority = createTestAuthority({ around: stampedAt, ...given.authority });
  const imprint = imprintOf(root);
  const stamped = authority.stamp({ imprint, ...given.token?.(authority, root) });
  const token = given.edit?.(stamped) ?? stamped;
  const anchor = authority.anchor(token, {
    certificates: given.certificates?.(authority) ?? [],
    crls: given.crls?.(authority) ?? [],
  });
  const trust = given.trust?.(authority) ?? { tsaRoots: [pem(authority.root.certificate)] };
  return anchorVector(file, anchor, {
    name,
    about,
    outcome,
    trust: trustOf(trust),
    at: given.at ?? judgedAt,
  });
}

export function anchorVector(
  file: BaseThing,
  anchor: TimestampAnchor,
  {
    name,
    about,
    outcome,
    trust,
    at,
  }: { name: string; about: string; outcome: Outcome; trust: TrustFile; at: string },
): NamedVector & { proof: ReturnType<typeof anchoredBy> } {
  const proof = anchoredBy(file.proof, anchor);
  return {
    name: `rfc3161-${name}`,
    about,
    ...{ ...givenWith(file, proof), trust, at },
    expected: expect(proof, outcome),
  };
}
