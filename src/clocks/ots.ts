/**
 * Has the newest batches timestamped by OpenTimestamps calendars, and completes these proofs when Bitcoin has them. What a
 * calendar says is believed only if the header of the block agrees.
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
import type { CalendarClient, CalendarOutcome, Upgrade } from './opentimestamps/calendar-client.ts';

export interface OpenTimestamps {
  /** Submits and completes what is due; true when there may be more to do at once. */
  step(lead: Lead, signal: AbortSignal): Promise<boolean>;
}

export interface OpenTimestampsDeps {
  db: Db;
  client: Pick<CalendarClient, 'submit' | 'upgrade'>;
  /** Null: proofs are completed without headers. */
  findHeader: FindBitcoinHeader | null;
  log: LoopLog;
  /** Milliseconds since 1970. */
  now(): number;
  onComplete(): void;
}

const submitEveryMs = 60_000;
const roundEveryMs = 600_000;
/** Proofs that are asked for in one step. */
const atOnce = 10;
/** Blocks of one proof whose headers are looked up; each calendar names one. */
const mostBlocks = 8;

export function createOpenTimestamps(deps: OpenTimestampsDeps): OpenTimestamps {
  const { db, client, findHeader, log, now, onComplete } = deps;
  let submittedAt = Number.NEGATIVE_INFINITY;
  /** A round goes over all that are pending, oldest first. */
  let roundAt = Number.NEGATIVE_INFINITY;
  let roundLastId: number | null = null;
  const told = new Map<string, string>();

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

  async function upgrade(lead: Lead, { id, ots }: PendingOts, signal: AbortSignal): Promise<void> {
    const upgraded = await client.upgrade(ots);
    tell(upgraded.outcomes);
    if (upgraded.bitcoin.length === 0) return;
    const complete = findHeader
      ? await withHeader(upgraded, signal)
      : { ots: Buffer.from(upgraded.ots), headers: [], vouchedAt: new Date(now()) };
    if (!complete) return;
    await lead.term.commit((db) => completeOts(db, { id, ...complete }));
    onComplete();
  }

  /** Of the blocks that the proof names, the one with the shortest way to it whose header agrees; null if there is none. */
  async function withHeader({ ots, bitcoin }: Upgrade, signal: AbortSignal) {
    const headers = new Map<number, Hex>();
    for (const height of [...new Set(bitcoin.map(({ height }) => height))].slice(0, mostBlocks)) {
      const header = await findHeader?.(height, signal).catch((error: unknown) => {
        if (!(error instanceof RequestFault)) throw error;
        log.info({ height, error: error.message }, 'could not find the header of a Bitcoin block');
      });
      if (header) headers.set(height, header);
    }
    const file = readDetachedFile(ots);
    const fits = ({ height, merkleRoot }: { height: number; merkleRoot: Uint8Array }) => {
      const header = headers.get(height);
      if (!header) return false;
      const block = readBitcoinHeader(header);
      return block.hasWork && toHex(block.merkleRoot) === toHex(merkleRoot);
    };
    const found = await smallestBitcoin(file, fits);
    const header = found && headers.get(found.height);
    if (!header) {
      if (headers.size > 0)
        log.error({ heights: [...headers.keys()] }, 'a calendar names a Bitcoin block that does not agree');
      return null;
    }
    return {
      ots: Buffer.from(writeDetachedFile(prunedTo(file, found.attested))),
      headers: [{ height: found.height, header: toBytea(header) }],
      vouchedAt: new Date(readBitcoinHeader(header).time),
    };
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
