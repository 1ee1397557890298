/** Random trees of OpenTimestamps proofs, within the bounds of the format. */
import type { DetachedFile, TimestampTree } from '../../../src/proof/opentimestamps/timestamp.ts';
import { fc } from '../service/properties.ts';

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });
const height = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }));

const attestation = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._/:-]{0,20}$/).map((uri) => ({ kind: 'pending' as const, uri })),
  height.map((at) => ({ kind: 'bitcoin' as const, height: at })),
  height.map((at) => ({ kind: 'litecoin' as const, height: at })),
  fc
    .record({ tag: bytes(8, 8), payload: bytes(0, 140) })
    .map(({ tag, payload }) => ({ kind: 'unknown' as const, tag, payload })),
);

const operation = fc.oneof(
  fc.record({ tag: fc.constantFrom(0xf0, 0xf1), argument: bytes(1, 140) }),
  fc.record({
    tag: fc.constantFrom(0x02, 0x03, 0x08, 0x67, 0xf2, 0xf3),
    argument: fc.constant(new Uint8Array()),
  }),
);

const same = (value: unknown) => JSON.stringify(value);

/** The deepest one: hexlify doubles a message, so four levels above 32 bytes stay far below 4,096. */
function treeOf(levels: number): fc.Arbitrary<TimestampTree> {
  const attestations = (minLength: number) =>
    fc.uniqueArray(attestation, { minLength, maxLength: 3, selector: same });
  if (levels === 0) return attestations(1).map((all) => ({ attestations: all, branches: [] }));
  const branch = fc.record({ operation, tree: treeOf(levels - 1) });
  const branches = fc.uniqueArray(branch, {
    minLength: 1,
    maxLength: 3,
    selector: ({ operation }) => same(operation),
  });
  return fc.record({ attestations: attestations(0), branches });
}

/** For SHA-256 digests. */
export const anyFile: fc.Arbitrary<DetachedFile> = fc.record({
  hashTag: fc.constant(0x08),
  digest: bytes(32, 32),
  tree: fc.nat(4).chain(treeOf),
});
