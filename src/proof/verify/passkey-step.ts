/**
 * The step `passkey` of a verification: by what was anchored of the passkeys of workers, the worker signed with what they had
 * then. `passkeys.jsonl` of a dossier has these statements, one on each line.
 */
import type { Hex } from 'viem';
import { parseJsonText } from '../../runtime/json-text.ts';
import { recordDigest } from '../content.ts';
import { fromHex } from '../hex.ts';
import { hexOf, matching, objectOf } from '../json-shape.ts';
import { createPasskeyChain, type PasskeyChain } from '../signoff/passkey-chain.ts';
import { placeNumber } from '../signoff/signed-with.ts';
import type { SignoffDocument } from '../signoff/signoff-document.ts';
import type { Proof } from './proof.ts';
import { fail, pass, type StepResult, skip, type Verification } from './steps.ts';

interface Line {
  workerId: string;
  number: number;
  hash: Hex;
  salt: Hex;
  document: unknown;
  /** Null: not anchored yet when it was handed over. */
  proof: Proof | null;
}

type Verify = (proof: Proof, content: Uint8Array) => Promise<Verification>;

/** `signoff`: the content of the proof, whose signature holds. `statements`: the text of the file. */
export async function checkPasskey(
  signoff: SignoffDocument,
  statements: string,
  verify: Verify,
): Promise<StepResult> {
  const { workspaceId, signedWith } = signoff;
  const chain = createPasskeyChain(workspaceId);
  let isWhole = true;
  for (const [place, text] of linesOf(statements).entries()) {
    const found = await addLine(chain, text, { workspaceId, verify });
    if (typeof found === 'string')
      return fail(`Statement ${place + 1} about passkeys ${found.replace(/\.$/, '')}.`);
    isWhole &&= found.isWhole;
  }
  const [fault] = chain.judge(signoff).faults;
  if (fault !== undefined) return fail(`The sign-off does not fit the statements about passkeys: ${fault}.`);
  if (!isWhole) return skip('Not every statement about passkeys has a complete proof.');
  return signedWith.method === 'passkey'
    ? pass(`The worker had registered the passkey in statement ${signedWith.registration.number}.`)
    : pass('The worker had registered no passkey before.');
}

/** The last one may lack its line feed. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** What is wrong with it, or whether everything about it was proven. */
async function addLine(
  chain: PasskeyChain,
  text: string,
  { workspaceId, verify }: { workspaceId: string; verify: Verify },
): Promise<string | { isWhole: boolean }> {
  const line = readLine(text);
  if (typeof line === 'string') return line;
  const { workerId, number, hash, document, proof } = line;
  const content = new TextEncoder().encode(JSON.stringify(document));
  const verification = proof === null ? null : await verify(proof, content);
  if (verification?.verdict === 'fail') return `has a proof that does not hold: ${verification.summary}`;
  if (proof !== null && !isAbout(proof, { workspaceId, workerId, number, hash }))
    return 'has a proof of something else';
  const [fault] = await chain.add({ workerId, number, hash, document, leaf: proof?.leaf.values ?? null });
  return fault ?? { isWhole: verification?.verdict === 'pass' };
}

function readLine(text: string): Line | string {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    return `is not usable JSON: ${(error as Error).message}`;
  }
  const [fault] = checkForm(value, '');
  if (fault) return `is malformed: ${fault.path} ${fault.message}`;
  const line = value as Line;
  return hasDigest(line) ? line : 'does not match its hash';
}

function hasDigest({ salt, document, hash }: Line): boolean {
  try {
    return recordDigest(fromHex(salt), document) === hash;
  } catch {
    return false;
  }
}

/** Whether it is a proof of that statement; what the statement says was compared with it before. */
export function isAbout(
  { kind, subject, content, leaf }: Proof,
  {
    workspaceId,
    workerId,
    number,
    hash,
  }: Pick<Line, 'workerId' | 'number' | 'hash'> & { workspaceId: string },
): boolean {
  const [, , , , version] = leaf.values;
  return (
    kind === 'passkey' &&
    subject.workspaceId === workspaceId &&
    subject.id === workerId &&
    version === String(number) &&
    content.digest === hash
  );
}

const any = () => [];
const checkForm = objectOf(
  {
    workerId: matching(/^/u, 'a text'),
    number: placeNumber,
    ...{ hash: hexOf(32), salt: hexOf(32), document: any, proof: any },
  },
  { open: true },
);
