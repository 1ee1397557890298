/**
 * Has the newest batches timestamped by OpenTimestamps calendars, and completes these proofs when Bitcoin has them. What a
 * calendar says is believed only if the header of the block agrees. Where no header can be asked for, the proof is stored as
 * one that nobody has checked, once all of its calendars have answered.
 */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import {
  batchForCalendars,
  completeOts,
  type PendingOts,
  pendingOts,
  storePendingOts,
} from '../anchoring/evidence/timestamps.store.ts';
import type { Lead } from '../chain/chain.ts';
import { toBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { RequestFault } from '../egress/guarded-request.ts';
import { toHex } from '../proof/hex.ts';
import { readBitcoinHeader } from '../proof/opentimestamps/bitcoin-header.ts';
import { smallestBitcoin } from '../proof/opentimestamps/commitments.ts';
import { readDetachedFile } from '../proof/opentimestamps/read.ts';
import { prunedTo } from '../proof/opentimestamps/timestamp.ts';
import { writeDetachedFile } from '../proof/opentimestamps/write.ts';
import type { LoopLog } from '../runtime/loop.ts';
import type { FindBitcoinHeader } from './bitcoin-headers.ts';
import { isPlausibleHeight, largestTarget } from './opentimestamps/bitcoin-bounds.ts';
import type { CalendarClient, CalendarOutcome, Upgrade } from './opentimestamps/calendar-client.ts';

export interface OpenTimestamps {
  /** Submits and completes what is due; true when there may be more to do at once. */
  step(lead: Lead, signal: AbortSignal): Promise<boolean>;
}

export interface OpenTimestampsDeps {
  db: Db;
  client: Pick<CalendarClient, 'submit' | 'upgrade'>;
  /** Null: proofs are completed without headers, so that nobody has checked them. */
  findHeader: FindBitcoinHeader | null;
  /** That a header may demand; Bitcoin's unless a test makes its own blocks. */
  largestTarget?: bigint;
  log: LoopLog;
  /** Milliseconds since 1970. */
  now(): number;
  onComplete(): void;
}

const submitEveryMs = 60_000;
const roundEveryMs = 600_000;
/** Proofs that are asked for in one step. */
const atOnce = 10;
/** Blocks of one proof whose headers are looked up: two for each of eight calendars, when submitting and later. */
const mostBlocks = 32;
/** A block that did not agree is looked up again after ten minutes, and then after pauses that grow to this. */
const longestPauseMs = 24 * 60 * 60_000;
/** Proofs and blocks whose pauses are kept; the oldest are forgotten first. */
const mostPauses = 10_000;
/** Without headers: how long a proof waits for its last calendar. */
const patienceMs = 3 * 24 * 60 * 60_000;

type Complete = Omit<Parameters<typeof completeOts>[1], 'id'>;

interface Lookup {
  /** Of the proof. */
  id: number;
  heights: number[];
  findHeader: FindBitcoinHeader;
  signal: AbortSignal;
}

export function createOpenTimestamps(deps: OpenTimestampsDeps): OpenTimestamps {
  const { db, client, findHeader, log, now, onComplete } = deps;
  const easiest = deps.largestTarget ?? largestTarget;
  let submittedAt = Number.NEGATIVE_INFINITY;
  /** A round goes over all that are pending, oldest first. */
  let roundAt = Number.NEGATIVE_INFINITY;
  let roundLastId: number | null = null;
  const told = new Map<string, string>();
  /** Blocks that did not agree with a proof, by both. */
  const pauses = new Map<string, { times: number; until: number }>();

  /** Once for each reason, as a calendar may be away for days. */
  function tell(outcomes: CalendarOutcome[]): void {
    for (const { calendar, status, message } of outcomes) {
      if (status !== 'failed') told.delete(calendar);
      else if (message !== null && told.get(calendar) !== message) {
        told.set(calendar, message);
        log.error({ calendar, error: message }, 'no timestamp from a calendar');
      }
    }
  }

  async function submit(lead: Lead): Promise<void> {
    const batch = await batchForCalendars(db);
    if (!batch) return;
    submittedAt = now();
    const imprint = createHash('sha256').update(batch.root).digest();
    const { ots, outcomes } = await client.submit(imprint);
    tell(outcomes);
    if (!ots) return;
    await lead.term.commit((db) => storePendingOts(db, { batchId: batch.id, ots: Buffer.from(ots) }));
  }

  /** False at the end of a round. */
  async function upgradeSome(lead: Lead, signal: AbortSignal): Promise<boolean> {
    const pending = await pendingOts(db, { after: roundLastId ?? 0, limit: atOnce });
    for (const one of pending) {
      if (signal.aborted) return true;
      await upgrade(lead, one, signal);
      roundLastId = one.id;
    }
    return pending.length === atOnce;
  }

  async function upgrade(lead: Lead, pending: PendingOts, signal: AbortSignal): Promise<void> {
    const upgraded = await client.upgrade(pending.ots);
    tell(upgraded.outcomes);
    const heights = [...new Set(upgraded.bitcoin.map(({ height }) => height))].filter((height) =>
      isPlausibleHeight(height, now()),
    );
    if (heights.length === 0) return;
    const complete = findHeader
      ? await withHeader(upgraded, { id: pending.id, heights, findHeader, signal })
      : withoutHeader(upgraded, pending);
    if (!complete) return;
    await lead.term.commit((db) => completeOts(db, { id: pending.id, ...complete }));
    onComplete();
  }

  /**
   * One calendar could name any block. What it says is stored beside what the others say, so all of them are waited for, but
   * not for ever.
   */
  function withoutHeader({ ots, outcomes }: Upgrade, { createdAt }: PendingOts) {
    const isAnswered = outcomes.every(({ status }) => status === 'done');
    if (!isAnswered && now() < createdAt.getTime() + patienceMs) return null;
    return { ots: Buffer.from(ots), headers: [], vouchedAt: new Date(now()) };
  }

  /** Of the blocks that the proof names, the one with the shortest way to it whose header agrees; null if there is none. */
  async function withHeader(
    { ots }: Upgrade,
    { id, heights, findHeader, signal }: Lookup,
  ): Promise<Complete | null> {
    const due = heights.filter((height) => (pauses.get(`${id} ${height}`)?.until ?? 0) <= now());
    const headers = new Map<number, Hex>();
    await Promise.all(
      due.slice(0, mostBlocks).map(async (height) => {
        const header = await findHeader(height, signal).catch((error: unknown) => {
          if (!(error instanceof RequestFault)) throw error;
          log.info({ height, error: error.message }, 'could not find the header of a Bitcoin block');
        });
        if (header) headers.set(height, header);
      }),
    );
    const file = readDetachedFile(ots);
    const fits = ({ height, merkleRoot }: { height: number; merkleRoot: Uint8Array }) => {
      const header = headers.get(height);
      if (!header) return false;
      const block = readBitcoinHeader(header);
      return block.hasWork && block.target <= easiest && toHex(block.merkleRoot) === toHex(merkleRoot);
    };
    const found = smallestBitcoin(file, fits);
    const header = found && headers.get(found.height);
    if (!header) {
      for (const height of headers.keys()) pause(`${id} ${height}`);
      if (headers.size > 0)
        log.error({ heights: [...headers.keys()] }, 'a calendar names a Bitcoin block that does not agree');
      return null;
    }
    for (const height of heights) pauses.delete(`${id} ${height}`);
    return {
      ots: Buffer.from(writeDetachedFile(prunedTo(file, found.attested))),
      headers: [{ height: found.height, header: toBytea(header) }],
      vouchedAt: new Date(readBitcoinHeader(header).time),
    };
  }

  function pause(key: string): void {
    const times = (pauses.get(key)?.times ?? 0) + 1;
    // Removed first, so that it becomes the newest.
    pauses.delete(key);
    pauses.set(key, { times, until: now() + Math.min(roundEveryMs * 2 ** (times - 1), longestPauseMs) });
    const [oldest] = pauses.keys();
    if (pauses.size > mostPauses && oldest !== undefined) pauses.delete(oldest);
  }

  return {
    async step(lead, signal) {
      if (now() < submittedAt) submittedAt = now();
      if (now() >= submittedAt + submitEveryMs) await submit(lead);
      if (roundLastId === null && now() >= roundAt + roundEveryMs) {
        roundAt = now();
        roundLastId = 0;
      }
      if (roundLastId === null) return false;
      if (await upgradeSome(lead, signal)) return true;
      roundLastId = null;
      return false;
    },
  };
}
