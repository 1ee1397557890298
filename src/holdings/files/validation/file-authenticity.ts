/**
 * Whether a version of a file is authentic: a proof made now from the stored rows passes the verifier against the current
 * chain. If the chain does not answer, or a reorg has moved the anchor and the index has not followed yet, the result stays
 * open.
 */
import { sql } from 'kysely';
import { NotAsAnchored, type Proofs } from '../../../anchoring/proofs.ts';
import { fromBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import type { ChainReader, Registry } from '../../../proof/verify/chain-reader.ts';
import type { Proof } from '../../../proof/verify/proof.ts';
import type { StepName, Verification } from '../../../proof/verify/steps.ts';
import { verifyProof } from '../../../proof/verify/verify.ts';
import { AppError } from '../../../runtime/errors.ts';

export interface VersionToProve {
  workspaceId: string;
  fileId: string;
  version: number;
  contentHash: Buffer;
  canonicalization: 'raw' | 'hmac-sha256';
}

/** Null: not decidable yet. */
export interface Authenticity {
  authentic: boolean | null;
  reason: string;
}

export interface AuthenticityDeps {
  db: Db;
  proofs: Pick<Proofs, 'make'>;
  /** May cache answers for a while. */
  chain: ChainReader;
  /** Asks the chain every time. */
  freshChain: ChainReader;
  registry: Registry;
}

/**
 * The steps that must pass. Claims may have been erased; the content is compared separately; the time of the embedded chain
 * never counts; and finality says how long the result will hold, not whether it is right.
 */
const needed: StepName[] = ['leaf', 'path', 'seal', 'registry', 'chain'];

/** Steps whose failure may mean a reorg as well as a forgery. */
const ofTheChain: StepName[] = ['registry', 'chain'];

export async function checkAuthenticity(
  version: VersionToProve,
  deps: AuthenticityDeps,
): Promise<Authenticity> {
  const { chain, freshChain, registry } = deps;
  try {
    const first = await verifyProof(await makeProof(version, deps), { chain, registry });
    if (!failedOnChain(first)) return conclusionOf(first);
    // A contradiction is final only if the chain still contains our whole index.
    if (!(await standsOn(freshChain, deps.db))) {
      return { authentic: null, reason: `The chain has moved: ${conclusionOf(first).reason}` };
    }
    return conclusionOf(await verifyProof(await makeProof(version, deps), { chain: freshChain, registry }));
  } catch (error) {
    if (error instanceof NotAsAnchored) return { authentic: false, reason: error.message };
    // A reorg has withdrawn the confirmation.
    if (error instanceof AppError && error.code === 'conflict') {
      return { authentic: null, reason: error.message };
    }
    throw error;
  }
}

function makeProof(
  { workspaceId, fileId, version, contentHash, canonicalization }: VersionToProve,
  { proofs }: AuthenticityDeps,
): Promise<Proof> {
  const content = {
    algorithm: 'sha-256',
    digest: fromBytea(contentHash),
    canonicalization,
    salt: null,
  } as const;
  return proofs.make({ workspaceId, kind: 'file', subjectId: fileId, version, content });
}

function failedOnChain({ steps }: Verification): boolean {
  const failed = steps.filter(({ status }) => status === 'fail');
  return failed.length > 0 && failed.every(({ name }) => ofTheChain.includes(name));
}

function conclusionOf({ steps, verdict }: Verification): Authenticity {
  if (verdict === 'fail')
    return { authentic: false, reason: messages(steps.filter(({ status }) => status === 'fail')) };
  const open = steps.filter(({ name, status }) => needed.includes(name) && status !== 'pass');
  return open.length > 0
    ? { authentic: null, reason: messages(open) }
    : { authentic: true, reason: 'Every step that is needed passed.' };
}

function messages(steps: { message: string }[]): string {
  return steps.map(({ message }) => message).join(' ');
}

/** Blocks are linked by hash: a chain with the newest block of our index has all of them. */
async function standsOn(chain: ChainReader, db: Db): Promise<boolean> {
  const { rows } = await sql<{ number: number; hash: Buffer }>`
    select number, hash from chain_blocks order by number desc limit 1`.execute(db);
  const [tip] = rows;
  return tip !== undefined && (await chain.block(tip.number))?.hash === fromBytea(tip.hash);
}
