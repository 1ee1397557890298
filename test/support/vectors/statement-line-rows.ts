/** Sign-offs given with statements of which a line or its proof is wrong, or missing. */
import { recordDigest } from '../../../src/proof/content.ts';
import { fromHex } from '../../../src/proof/hex.ts';
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { firstTime, vaultKeys } from './base-batches.ts';
import { ofWorkspace, saltless, unsignedByWorker } from './statement-chains.ts';
import { type StatementLine, textOf } from './statements-made.ts';
import type { Outcome } from './vector.ts';

export type StatementsRow = [
  name: string,
  about: string,
  signoff: SignoffDocument,
  lines: object[] | string,
  outcome: Outcome,
];

export const passes: Outcome = { time: firstTime };
export const fails: Outcome = { fail: ['passkey'], time: firstTime };
export const skips: Outcome = { skip: ['passkey'], time: firstTime };

interface Known {
  /** The first two statements. */
  one: StatementLine;
  two: StatementLine;
  /** By the passkey of the first one; and by a key, before that was registered. */
  signed: SignoffDocument;
  keyBefore: SignoffDocument;
}

export async function lineRows({ one, two, signed, keyBefore }: Known): Promise<StatementsRow[]> {
  const unproven = (line: StatementLine, change: object = {}) => ({ ...line, proof: null, ...change });
  return [
    ['unproven', 'A statement has no proof yet.', signed, [{ ...one, proof: null }], skips],
    [
      'unproven-and-not-signed',
      'A statement has no proof, and the worker did not sign it.',
      signed,
      (await unsignedByWorker()).map((line) => ({ ...line, proof: null })),
      fails,
    ],
    [
      'unproven-of-another-workspace',
      'A statement of another workspace, which has no proof yet.',
      keyBefore,
      (await ofWorkspace()).map((line) => unproven(line)),
      fails,
    ],
    [
      'unproven-of-another-worker',
      'A statement about another worker than its line says, which has no proof yet.',
      keyBefore,
      [unproven(one, { workerId: 'wrk_other' })],
      fails,
    ],
    [
      'unproven-under-another-number',
      'A statement with another number than its line says, which has no proof yet.',
      keyBefore,
      [unproven(two, { number: 1 })],
      fails,
    ],
    [
      'unproven-without-first',
      'The second statement without the first; it has no proof yet.',
      keyBefore,
      [unproven(two)],
      fails,
    ],
    [
      'unproven-under-another-hash',
      'A statement under another hash, which has no proof yet.',
      keyBefore,
      [unproven(one, { hash: fixed(0xcd) })],
      fails,
    ],
    [
      'proof-tampered',
      'A statement has a proof that was tampered with.',
      signed,
      [{ ...one, proof: one.proof && { ...one.proof, merkle: { ...one.proof.merkle, root: fixed(0xee) } } }],
      fails,
    ],
    [
      'proof-under-another-salt',
      'A statement under another salt than its proof has.',
      keyBefore,
      [{ ...one, salt: fixed(0xa9), hash: recordDigest(fromHex(fixed(0xa9)), one.document) }],
      fails,
    ],
    [
      'proof-without-salt',
      'A statement whose proof does not tell the salt.',
      signed,
      await saltless({}),
      skips,
    ],
    [
      'proof-without-salt-of-another-worker',
      'A proof about another worker, which does not tell the salt.',
      signed,
      await saltless({ id: 'wrk_other' }),
      fails,
    ],
    [
      'proof-without-salt-of-another-workspace',
      'A proof of another workspace, which does not tell the salt.',
      signed,
      await saltless({ workspaceId: 'ws_other' }),
      fails,
    ],
    [
      'proof-without-salt-of-another-number',
      'A proof of another number, which does not tell the salt.',
      signed,
      await saltless({ version: 2 }),
      fails,
    ],
    [
      'proof-without-salt-of-a-strangers-vault',
      'A proof by another vault than the statement names, which does not tell the salt.',
      signed,
      await saltless({ key: vaultKeys.stranger }),
      fails,
    ],
    ['proof-malformed', 'A proof is no object.', signed, [{ ...one, proof: false }], fails],
    ['without-proof', 'A line has no member for a proof.', signed, [{ ...one, proof: undefined }], fails],
    [
      'more-members',
      'Members of a line that are not needed.',
      signed,
      [{ ...one, status: 'confirmed' }],
      passes,
    ],
    ['salt-missing', 'A line has no salt.', signed, [{ ...one, salt: undefined }], fails],
    ['no-json', 'A line is no JSON.', signed, 'passkey\n', fails],
    ['empty-line', 'A line is empty.', signed, `\n${textOf([one])}`, fails],
    [
      'name-twice',
      'A name occurs twice in a line.',
      signed,
      textOf([one]).replace('{', '{"number":1,'),
      fails,
    ],
    ['list', 'A line is a list.', signed, `${JSON.stringify([one])}\n`, fails],
  ];
}
