/** Sign-offs that are given together with the statements about passkeys: whether their worker had that passkey then. */
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { blocksOf } from './base-batches.ts';
import { assertion, es256, type Passkey } from './passkey-assertions.ts';
import { byKey, unsigned, vectorOf } from './signoff-made.ts';
import {
  again,
  byRevoked,
  byUnknown,
  forOther,
  namedAsKey,
  notFollowing,
  ofNobody,
  ofOther,
  ofStranger,
  ofWorkspace,
  onePerson,
  relabelled,
  replayed,
  revokedAlone,
  revokedByStranger,
  revokedTwice,
  second,
  third,
  unsignedByWorker,
  withAddress,
  withRevocation,
} from './statement-chains.ts';
import { fails, lineRows, passes, type StatementsRow } from './statement-line-rows.ts';
import {
  registrationOf,
  revocationOf,
  type StatementLine,
  statementChain,
  textOf,
} from './statements-made.ts';
import { type NamedVector, trustOf } from './vector.ts';

export async function statementsVectors(): Promise<NamedVector[]> {
  const whole = statementChain();
  const first = await whole.add(await registrationOf(es256));
  const next = await whole.add(
    await registrationOf(second, { number: 2, by: { passkey: es256, of: first } }),
  );
  await whole.add(revocationOf(first, { number: 3 }));
  const last = await whole.add(await registrationOf(third, { number: 4, by: { passkey: second, of: next } }));
  const [one, two, three, four] = whole.lines as [StatementLine, StatementLine, StatementLine, StatementLine];
  const signed = signedBy(es256, one);
  const key = await byKey(unsigned);
  const early = { signedAt: '2026-11-15T01:10:00.000Z' };
  const keyBefore = await byKey({ ...unsigned, ...early });
  const revokedBefore = await byRevoked();
  const rows: StatementsRow[] = [
    ['first', 'By the first passkey.', signed, [one], passes],
    [
      'second',
      'By the second passkey, which the first one signed.',
      signedBy(second, two),
      [one, two],
      passes,
    ],
    [
      'after-a-revocation',
      'By a passkey that another one signed after a revocation.',
      signedBy(third, last),
      whole.lines,
      passes,
    ],
    ['without-last-line-feed', 'The last line does not end.', signed, textOf([one]).trimEnd(), passes],
    [
      'before-revocation',
      'Signed and received before the passkey was revoked.',
      signedBy(es256, one, { signedAt: '2026-11-15T02:00:00.000Z' }),
      whole.lines,
      passes,
    ],
    ['after-its-revocation', 'By a passkey that had been revoked.', signed, whole.lines, fails],
    [
      'received-after-its-revocation',
      'Signed before the passkey was revoked, as it says, and received later.',
      {
        ...signedBy(es256, one, { signedAt: '2026-11-15T01:30:00.000Z' }),
        receivedAt: '2026-11-15T02:10:00.000Z',
      },
      whole.lines,
      fails,
    ],
    [
      'in-the-second-of-its-registration',
      'Signed in the second in which it was registered.',
      signedBy(es256, one, early),
      [one],
      passes,
    ],
    [
      'before-its-registration',
      'Signed before it was registered.',
      signedBy(es256, one, { signedAt: '2026-11-15T01:09:59.000Z' }),
      [one],
      fails,
    ],
    ['none', 'No statement at all.', signed, [], fails],
    ['none-and-no-passkey', 'By a key, and no statement at all.', key, [], passes],
    [
      'key-before',
      'By a key, before the first passkey was registered.',
      await byKey({ ...unsigned, ...early }),
      [one],
      passes,
    ],
    ['key-after', 'By a key, although the worker had a passkey.', key, [one], fails],
    [
      'key-after-all-were-revoked',
      'By a key, after the only passkey was revoked.',
      key,
      await revokedAlone(),
      fails,
    ],
    [
      'key-received-after',
      'By a key before the first passkey, as it says, and received later.',
      { ...(await byKey({ ...unsigned, ...early })), receivedAt: '2026-11-15T02:10:00.000Z' },
      [one],
      fails,
    ],
    ['of-somebody-else', 'By a passkey of somebody else.', await byOther(), [...(await ofOther())], fails],
    [
      'other-number',
      'The registration under another number.',
      signedBy(es256, { number: 2, hash: one.hash }),
      [one],
      fails,
    ],
    ['other-hash', 'Another registration.', signedBy(es256, { number: 1, hash: fixed(0xcd) }), [one], fails],
    [
      'other-public-key',
      'Another passkey under the registration.',
      signedBy({ ...second, credentialId: es256.credentialId }, one),
      [one],
      fails,
    ],
    [
      'other-credential',
      'Another credential under the registration.',
      signedBy({ ...es256, credentialId: '0x09' }, one),
      [one],
      fails,
    ],
    [
      'other-host-name',
      'Another host name than was registered.',
      signedBy(es256, one, {}, 'example.org'),
      [one],
      fails,
    ],
    ['without-first', 'The first statement is missing.', signedBy(second, two), [two], fails],
    ['without-middle', 'The revocation is missing.', signedBy(third, last), [one, two, four], fails],
    ['in-other-order', 'Two statements in another order.', signedBy(second, two), [two, one], fails],
    ['twice', 'A statement occurs twice.', signed, [one, one], fails],
    ['revoked-twice', 'A passkey is revoked twice.', signedBy(second, two), await revokedTwice(), fails],
    [
      'revoked-by-a-strangers-vault',
      'A revocation is sealed by another vault than the registration.',
      signedBy(second, two),
      await revokedByStranger(),
      fails,
    ],
    [
      'revoked-before-it-was-registered',
      'A passkey is revoked before it was registered.',
      signedBy(second, two),
      await withRevocation({ revokedAt: '2026-11-15T01:00:00.000Z' }),
      fails,
    ],
    [
      'revoked-under-another-number',
      'A revocation names another number.',
      signedBy(second, two),
      await withRevocation({ registration: { number: 2, hash: one.hash } }),
      fails,
    ],
    [
      'revoked-another-credential',
      'A revocation of another credential.',
      signedBy(second, two),
      await withRevocation({ credentialId: '0x09' }),
      fails,
    ],
    [
      'by-a-revoked-one',
      'A second passkey, signed by the first, which had been revoked.',
      signedBy(second, revokedBefore.at(-1) ?? one),
      revokedBefore,
      fails,
    ],
    [
      'by-another-hash',
      'A second passkey, signed by the first under another hash.',
      signed,
      await byUnknown(),
      fails,
    ],
    ['registered-again', 'The same passkey is registered again.', signed, await again(), fails],
    ['replayed', 'A registration is replayed under another number.', signed, await replayed(), fails],
    ['of-another-workspace', 'A registration of another workspace.', signed, await ofWorkspace(), fails],
    [
      'for-another-worker',
      'Another worker registers a passkey under the address.',
      signed,
      await forOther(one),
      fails,
    ],
    [
      'with-another-address',
      'A worker gets another address with the second passkey.',
      signed,
      await withAddress(),
      fails,
    ],
    [
      'two-workers',
      'Two workers with passkeys; one of them signed.',
      signed,
      [one, ...(await ofOther())],
      passes,
    ],
    [
      'credential-named-as-a-key',
      'Somebody else chose the public key of the worker as the credential of theirs.',
      signed,
      await namedAsKey(one),
      passes,
    ],
    [
      'of-a-worker-without-an-id',
      'By the passkey of somebody else, whose statement names no worker.',
      signedBy(es256, { number: 1, hash: (await ofNobody())[0]?.hash ?? one.hash }),
      await ofNobody(),
      fails,
    ],
    ['not-signed', 'A registration that the worker did not sign.', signed, await unsignedByWorker(), fails],
    ['one-person', 'One person invited and confirmed.', signed, await onePerson(), fails],
    [
      'of-a-strangers-vault',
      'A registration is sealed by another vault than it names.',
      signed,
      await ofStranger(),
      fails,
    ],
    [
      'changed',
      'A statement was changed.',
      signed,
      [{ ...one, document: { ...one.document, workerName: 'Zoe' } }],
      fails,
    ],
    [
      'proof-of-the-next',
      'A statement has the proof of another.',
      signed,
      [{ ...one, proof: two.proof }, two],
      fails,
    ],
    [
      'proof-does-not-follow',
      'A statement has a proof that does not follow the one before.',
      signedBy(second, two),
      await notFollowing(),
      fails,
    ],
    ['relabelled', 'A statement has a proof of another kind.', signed, await relabelled(), fails],
    ...(await lineRows({ one, two, signed, keyBefore })),
    ['three-is-a-revocation', 'A sign-off names a revocation.', signedBy(es256, three), whole.lines, fails],
  ];
  return Promise.all(rows.map(made));
}

function signedBy(
  passkey: Passkey,
  { number, hash }: Pick<StatementLine, 'number' | 'hash'>,
  change: object = {},
  rpId?: string,
): SignoffDocument {
  const registration = { number, hash };
  return assertion(
    passkey,
    { ...unsigned, ...change },
    { registration, ...(rpId !== undefined && { rpId }) },
  );
}

async function made([name, about, document, lines, outcome]: StatementsRow): Promise<NamedVector> {
  const passkeys = typeof lines === 'string' ? lines : textOf(lines);
  const signed = { ...outcome, signed: ['signature', 'passkey'] as ('signature' | 'passkey')[] };
  const vector = await vectorOf({ name: `statements-${name}`, about, document, outcome: signed, passkeys });
  const anchors =
    typeof lines === 'string'
      ? []
      : lines.flatMap((line) => (line as { proof?: Proof }).proof?.anchors ?? []);
  const own = (vector.proof as Proof).anchors;
  // Two batches of one block would be two blocks of one number: each is trusted.
  return { ...vector, trust: trustOf({ blocks: unique(blocksOf([...own, ...anchors, ...stated(lines)])) }) };
}

/** Of text that is JSON after all. */
function stated(lines: object[] | string): Proof['anchors'] {
  if (typeof lines !== 'string') return [];
  return [...lines.matchAll(/"anchors":(\[.*?\]),"renewals"/g)].flatMap(([, text]) =>
    JSON.parse(text ?? '[]'),
  );
}

function unique<Item>(items: Item[]): Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

/** By the passkey of another worker, in the name of the worker. */
async function byOther(): Promise<SignoffDocument> {
  const [{ number, hash }] = (await ofOther()) as [StatementLine];
  return signedBy(third, { number, hash });
}
