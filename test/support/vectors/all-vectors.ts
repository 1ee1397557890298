/** All vectors of test/vectors, made anew. */
import { makeBaseThings } from './base-batches.ts';
import { boundVectors } from './bound-vectors.ts';
import { evmVectors } from './evm-vectors.ts';
import { goodVectors } from './good-vectors.ts';
import { historyBatchVectors } from './history-batch-vectors.ts';
import { historyVectors } from './history-vectors.ts';
import { inclusionVectors } from './inclusion-vectors.ts';
import { malformedVectors } from './malformed-vectors.ts';
import { nodeFormVectors } from './node-form-vectors.ts';
import { nodeVectors } from './node-vectors.ts';
import { otsVectors } from './ots-vectors.ts';
import { renewalVectors } from './renewal-vectors.ts';
import { sealVectors } from './seal-vectors.ts';
import { signoffVectors } from './signoff-vectors.ts';
import { statementVectors } from './statement-vectors.ts';
import { statementsVectors } from './statements-vectors.ts';
import { tamperedVectors } from './tampered-vectors.ts';
import { textLoadVectors } from './text-load-vectors.ts';
import { textVectors } from './text-vectors.ts';
import { tokenBoundVectors } from './token-bound-vectors.ts';
import { tokenFaultVectors } from './token-fault-vectors.ts';
import { tokenFormVectors } from './token-form-vectors.ts';
import { tokenWorkVectors } from './token-work-vectors.ts';
import { trustRevocationVectors } from './trust-revocation-vectors.ts';
import { trustVectors } from './trust-vectors.ts';
import type { NamedVector } from './vector.ts';

export async function allVectors(): Promise<NamedVector[]> {
  const base = await makeBaseThings();
  const all = [
    ...(await goodVectors(base)),
    ...(await renewalVectors(base['record-jcs'])),
    ...(await tamperedVectors(base)),
    ...(await sealVectors(base['file-raw'])),
    ...(await boundVectors(base['file-raw'])),
    ...(await malformedVectors(base['record-jcs'])),
    ...(await evmVectors(base['file-raw'])),
    ...nodeVectors(base['file-raw']),
    ...nodeFormVectors(base['file-raw']),
    ...(await inclusionVectors(base['file-raw'])),
    ...otsVectors(base['file-raw']),
    ...(await tokenFaultVectors(base['file-raw'])),
    ...tokenFormVectors(base['file-raw']),
    ...tokenBoundVectors(base['file-raw']),
    ...(await tokenWorkVectors(base['file-raw'])),
    ...(await textVectors(base['record-jcs'])),
    ...(await textLoadVectors(base['record-jcs'])),
    ...(await historyVectors()),
    ...(await historyBatchVectors()),
    ...(await signoffVectors()),
    ...(await statementVectors()),
    ...(await statementsVectors()),
    ...trustVectors(base['file-raw']),
    ...trustRevocationVectors(base['file-raw']),
  ];
  const names = all.map(({ name }) => name);
  const twice = names.filter((name, place) => names.indexOf(name) !== place);
  if (twice.length > 0) throw new Error(`two vectors are called ${twice.join(', ')}`);
  return all;
}
