/** The errors of the answers, with the codes and words that clients know from other nodes. */
import { RpcFault } from '../../rpc/json-rpc.ts';
import { EngineFailure } from '../engine/engine.ts';
import type { CallAnswer } from '../engine/protocol.ts';

const invalidParameters = -32602;
const internalError = -32603;
/** EIP-1474: resource unavailable; worth retrying. */
const unavailable = -32002;
const transactionRejected = -32003;
const serverError = -32000;
const reverted = 3;
const retryAfterMs = 1_000;

/** The parameters are at fault. */
export function invalid(message: string): RpcFault {
  return new RpcFault('refused', message, { code: invalidParameters });
}

/** The call is well formed, but its answer is an error. */
export function failed(message: string): RpcFault {
  return new RpcFault('refused', message, { code: serverError });
}

export function unknownMethod(method: string): RpcFault {
  return new RpcFault('refused', `the method ${method.slice(0, 64)} does not exist`, { code: -32601 });
}

export function notReady(message: string, cause?: unknown): RpcFault {
  return new RpcFault('unreachable', message, { code: unavailable, retryAfterMs, cause });
}

/** What the caller gets for an error of any kind. `sends`: the call is about a transaction that is to be mined. */
export function faultOf(error: unknown, { sends }: { sends: boolean }): RpcFault {
  if (error instanceof RpcFault) return error;
  if (!(error instanceof EngineFailure)) return internal(error);
  if (error.kind === 'invalid') {
    const code = sends ? transactionRejected : serverError;
    return new RpcFault('refused', error.message, { code, cause: error });
  }
  if (error.kind === 'lost' || error.kind === 'busy') return notReady(error.message, error);
  return internal(error);
}

/** The same kind that a client gives this code. Says nothing of the cause, which may be a text of the database. */
function internal(cause: unknown): RpcFault {
  return new RpcFault('bad_answer', 'internal error of the embedded chain', { code: internalError, cause });
}

export function faultOfCall({ failure, data }: CallAnswer): RpcFault | null {
  if (!failure) return null;
  if (failure.reverted) return new RpcFault('refused', 'execution reverted', { code: reverted, data });
  return failed(failure.reason);
}
