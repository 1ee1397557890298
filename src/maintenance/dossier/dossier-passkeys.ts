/** What was anchored about the passkeys of those who signed entries of an asset, one statement per line. */
import { anchorToJson } from '../../anchoring/anchored.ts';
import type { ManyProofs } from '../../anchoring/many-proofs.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import type { PasskeyLine } from '../dossier-check/dossier-format.ts';
import { readStatementsOf } from '../passkeys/passkeys.store.ts';
import { contentOf } from './dossier-lines.ts';

/** Of this many workers at once. */
const workersOfPage = 200;

export async function* passkeyLines(
  { db, manyProofs, onProof }: { db: Db; manyProofs: ManyProofs; onProof(proof: Proof): Promise<void> },
  workspaceId: string,
  addresses: readonly string[],
): AsyncGenerator<string> {
  for (let from = 0; from < addresses.length; from += workersOfPage) {
    const page = addresses.slice(from, from + workersOfPage);
    const statements = await readStatementsOf(db, workspaceId, page);
    const proofs = await manyProofs(
      statements.map(({ workerId, number, hash, salt }) => ({
        workspaceId,
        subjectId: workerId,
        kind: 'passkey',
        version: number,
        content: contentOf(hash, fromBytea(salt)),
      })),
    );
    for (const [place, { document, salt, workerId, number, hash, ...state }] of statements.entries()) {
      const proof = proofs[place];
      if (typeof proof === 'object') await onProof(proof);
      const line: Omit<PasskeyLine, 'document'> = {
        workerId,
        number,
        hash,
        salt: fromBytea(salt),
        ...anchorToJson(state),
        proof: typeof proof === 'object' ? proof : null,
        ...(proof === 'broken' && { unprovable: true }),
      };
      yield `${JSON.stringify(line).slice(0, -1)},"document":${document}}`;
    }
  }
}
