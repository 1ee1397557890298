/** Carries out open validations, oldest first, against the chain that this node leads on. */

import type { Proofs } from '../../../anchoring/proofs.ts';
import type { Lead } from '../../../chain/chain.ts';
import { createAnchorReader } from '../../../chain/registry/anchor-reader.ts';
import type { RpcCall } from '../../../chain/rules/rpc-call.ts';
import type { Db } from '../../../db/database.ts';
import { isDatabaseAway } from '../../../db/faults.ts';
import type { Registry } from '../../../proof/verify/chain-reader.ts';
import type { LoopLog, Wakeup } from '../../../runtime/loop.ts';
import { type Authenticity, checkAuthenticity } from './file-authenticity.ts';
import { completeValidations, type JudgedValidation } from './file-validation-results.ts';
import { findOpen, type OpenValidation } from './file-validations.store.ts';

export interface FileValidatorDeps {
  db: Db;
  proofs: Pick<Proofs, 'make'>;
  registry: Registry;
  /** Woken when events were written. */
  eventWakeup: Pick<Wakeup, 'wake'>;
  log: LoopLog;
  atOnce?: number;
}

export interface FileValidator {
  /** Runs one round; true when there may be more. Throws when the chain does not answer at all. */
  step(lead: Lead): Promise<boolean>;
  /** Whether some wait for a retry. */
  waits(): boolean;
}

/** An undecided validation is retried after this long, then after twice as long, and so on. */
const firstWaitMs = 500;
const longestWaitMs = 60_000;

export function createFileValidator(deps: FileValidatorDeps): FileValidator {
  const { db, proofs, registry, eventWakeup, log, atOnce = 100 } = deps;
  /** Validations that wait for a retry, by id, so that they do not hold up the others. */
  const waiting = new Map<string, { waitMs: number; until: number }>();

  function postpone({ id, fileId }: OpenValidation, reason: string): void {
    const before = waiting.get(id);
    const waitMs = before ? Math.min(before.waitMs * 2, longestWaitMs) : firstWaitMs;
    waiting.set(id, { waitMs, until: performance.now() + waitMs });
    if (!before) log.info({ validationId: id, fileId, reason }, 'a validation is waiting for the chain');
  }

  function postponed(): string[] {
    const now = performance.now();
    // Long overdue and no longer open: another node has completed it.
    for (const [id, { until }] of waiting) if (now - until > 2 * longestWaitMs) waiting.delete(id);
    return [...waiting].filter(([, { until }]) => until > now).map(([id]) => id);
  }

  return {
    async step({ term, chain }) {
      const open = await findOpen(db, { without: postponed(), limit: atOnce });
      if (open.length === 0) return false;
      const call: RpcCall = (method, params) => chain.client.request({ method, params } as never);
      const requireAnswer = () => call('eth_chainId', []);
      await requireAnswer();
      // A round counts as one moment: a question that several of its validations ask goes to the chain only once.
      const onceEach = remembering(([method, params]: Parameters<RpcCall>) => call(method, params));
      const chains = {
        chain: createAnchorReader((...asked) => onceEach(JSON.stringify(asked), asked)),
        freshChain: createAnchorReader(call),
      };
      const check = remembering((version: OpenValidation) =>
        checkAuthenticity(version, { db, proofs, registry, ...chains }).catch(undecided),
      );

      const judged: JudgedValidation[] = [];
      let trouble: unknown = null;
      for (const validation of open) {
        if (term.signal.aborted) return false;
        const { workspaceId, fileId, version } = validation;
        const { authentic, reason } = await check(`${workspaceId} ${fileId} ${version}`, validation);
        if (authentic !== null) {
          judged.push({ ...validation, authenticity: authentic });
          continue;
        }
        postpone(validation, reason);
        // While the chain is unavailable, every further validation would wait just as long.
        trouble = await requireAnswer().then(
          () => null,
          (error) => error,
        );
        if (trouble !== null) break;
      }
      if (judged.length > 0) {
        await term.commit((db) => completeValidations(db, judged));
        eventWakeup.wake();
      }
      for (const { id } of judged) waiting.delete(id);
      if (trouble !== null) throw trouble;
      return open.length === atOnce;
    },
    waits: () => waiting.size > 0,
  };
}

/** A validation that fails to be judged, for any reason, does not hold up the others. */
function undecided(error: unknown): Authenticity {
  if (isDatabaseAway(error)) throw error;
  return { authentic: null, reason: error instanceof Error ? error.message : String(error) };
}

/** Caches the answer for each key. */
function remembering<Asked, Answer>(ask: (asked: Asked) => Promise<Answer>) {
  const answers = new Map<string, Promise<Answer>>();
  return (key: string, asked: Asked): Promise<Answer> => {
    const answer = answers.get(key) ?? ask(asked);
    answers.set(key, answer);
    return answer;
  };
}
