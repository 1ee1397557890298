/** Asks the engine on behalf of a call. */
import type { EngineMethod, EngineRequests } from '../engine/protocol.ts';
import type { Asked } from './needs.ts';

/** A call of somebody else that takes longer is given up. */
const othersTimeoutMs = 5_000;

export function askEngine<M extends EngineMethod>(
  { needs, own }: Asked,
  method: M,
  given: EngineRequests[M]['arguments'],
): Promise<EngineRequests[M]['answer']> {
  return needs.engine.ask(method, given, own ? { first: true } : { timeoutMs: othersTimeoutMs });
}
