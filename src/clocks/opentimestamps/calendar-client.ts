/** Has digests timestamped by OpenTimestamps calendars, and asks them later for the Bitcoin blocks. */
import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { createGuardedRequests, RequestFault } from '../../egress/guarded-request.ts';
import type { Resolve } from '../../egress/name-lookup.ts';
import { toHex } from '../../proof/hex.ts';
import { bitcoinIn, type PendingCommitment, pendingIn } from '../../proof/opentimestamps/commitments.ts';
import { applyOperation, operationTags } from '../../proof/opentimestamps/operations.ts';
import { MalformedTimestamp, readDetachedFile, readTimestamp } from '../../proof/opentimestamps/read.ts';
import {
  alongPath,
  attestedIn,
  type DetachedFile,
  type OperationPath,
  type TimestampTree,
} from '../../proof/opentimestamps/timestamp.ts';
import { mergeFiles, writeDetachedFile } from '../../proof/opentimestamps/write.ts';
import { calendarAddress, configuredAddresses } from './calendar-address.ts';
import { createCalendarRequests } from './calendar-request.ts';

export interface CalendarClient {
  /** Submits the SHA-256 of a batch root to every calendar. Never fails because of a calendar. */
  submit(imprint: Uint8Array): Promise<Submission>;
  /**
   * Asks the calendars that the file waits for. Never fails because of a calendar; throws `MalformedTimestamp` if `ots` is
   * not a detached file.
   */
  upgrade(ots: Uint8Array): Promise<Upgrade>;
  close(): Promise<void>;
}

export interface CalendarOutcome {
  calendar: string;
  /** Pending: it has the commitment, but no Bitcoin block yet. */
  status: 'done' | 'pending' | 'failed';
  /** A sentence; null when done. */
  message: string | null;
}

export interface Submission {
  /** A pending `.ots` file; null if no calendar gave a usable answer. */
  ots: Uint8Array | null;
  outcomes: CalendarOutcome[];
}

export interface Upgrade {
  /** With everything new; the bytes that were given if nothing is. */
  ots: Uint8Array;
  changed: boolean;
  /**
   * The blocks that the file names by now, and what their Merkle roots must be. Calendars are not believed: compare them with
   * the headers before the file goes into a proof, and prune it to one that fits.
   */
  bitcoin: { height: number; merkleRoot: Hex }[];
  outcomes: CalendarOutcome[];
  /** Calendars that the file names but that are not configured: they are never asked. */
  notAsked: string[];
}

export interface CalendarClientOptions {
  /** By the addresses that their attestations name, not by those of pools in front of them. */
  calendars: readonly string[];
  timeoutMs: number;
  /** Hosts, addresses and networks that need not be public, as in HOLDFAST_WEBHOOK_ALLOW. */
  allow?: readonly string[];
  resolve?: Resolve;
}

/** Of one file; only a file that we did not make has more. */
const maxQuestions = 32;
/** A calendar puts what it gets into one block; it may name another after a fork. */
const maxBlocksOfAnswer = 2;
const nonceBytes = 16;

export function createCalendarClient(options: CalendarClientOptions): CalendarClient {
  const { calendars, timeoutMs, allow = [], resolve } = options;
  const addresses = configuredAddresses(calendars);
  const requests = createGuardedRequests({ allow, resolve });
  const { post, get } = createCalendarRequests({ requests, timeoutMs });

  async function submitTo(calendar: string, digest: Uint8Array): Promise<TimestampTree> {
    const timestamp = readTimestamp(await post(calendar, digest), digest.length);
    const { uris, blocks } = contentOf(timestamp);
    if (blocks > 0 || uris.some((uri) => addresses.includes(calendarAddress(uri) ?? ''))) return timestamp;
    throw new RequestFault(
      uris[0] === undefined
        ? 'sent a timestamp that no calendar will complete'
        : `leaves the timestamp to be completed by ${uris[0]}, which is not configured: configure that address instead`,
    );
  }

  async function askFor({ uri, commitment }: PendingCommitment): Promise<TimestampTree | string> {
    const answer = await get(calendarAddress(uri) ?? '', commitment);
    if (typeof answer === 'string') return answer;
    const timestamp = readTimestamp(answer, commitment.length);
    if (contentOf(timestamp).blocks > 0) return timestamp;
    throw new RequestFault('sent a timestamp without a Bitcoin block');
  }

  return {
    async submit(imprint) {
      if (imprint.length !== 32) throw new Error('an imprint has 32 bytes');
      // Each calendar sees only this hash, from which it cannot tell what is timestamped, even if that is known to it.
      const nonce = { tag: operationTags.append, argument: new Uint8Array(randomBytes(nonceBytes)) };
      const hash = { tag: operationTags.sha256, argument: new Uint8Array() };
      const path = { operation: hash, before: { operation: nonce, before: null } };
      const digest = applyOperation(hash, applyOperation(nonce, imprint));
      const answers = await Promise.all(
        addresses.map(async (calendar) => ({
          calendar,
          path,
          result: await settle(submitTo(calendar, digest)),
        })),
      );
      const { file, outcomes } = combine({ hashTag: operationTags.sha256, digest: imprint }, null, answers);
      return { ots: file && writeDetachedFile(file), outcomes };
    },

    async upgrade(ots) {
      const old = readDetachedFile(ots);
      const pending = unsettled(old);
      const isListed = ({ uri }: PendingCommitment) => addresses.includes(calendarAddress(uri) ?? '');
      const answers = await Promise.all(
        pending
          .filter(isListed)
          .slice(0, maxQuestions)
          .map(async (one) => ({
            calendar: calendarAddress(one.uri) ?? '',
            path: one.attested.path,
            result: await settle(askFor(one)),
          })),
      );
      const { file, outcomes } = combine(old, old.tree, answers);
      const changed = outcomes.some(({ status }) => status === 'done');
      return {
        ots: changed && file ? writeDetachedFile(file) : ots,
        changed,
        bitcoin: blocksIn(file ?? old),
        outcomes,
        notAsked: [...new Set(pending.filter((one) => !isListed(one)).map(({ uri }) => uri))],
      };
    },

    close: () => requests.close(),
  };
}

interface Answer {
  calendar: string;
  /** Where in the file the timestamp belongs. */
  path: OperationPath | null;
  result: TimestampTree | string | RequestFault;
}

/** Adds each answer to the file, unless the file would become one that no verifier reads. */
function combine(
  { hashTag, digest }: Pick<DetachedFile, 'hashTag' | 'digest'>,
  start: TimestampTree | null,
  answers: Answer[],
): { file: DetachedFile | null; outcomes: CalendarOutcome[] } {
  let file = start && { hashTag, digest, tree: start };
  const outcomes = answers.map(({ calendar, path, result }): CalendarOutcome => {
    const say = (status: 'pending' | 'failed', what: string) => ({
      calendar,
      status,
      message: `The calendar ${calendar} ${what}.`,
    });
    if (typeof result === 'string') return say('pending', `has no Bitcoin block yet: ${result}`);
    if (result instanceof RequestFault) return say('failed', result.message);
    const added = { hashTag, digest, tree: alongPath(path, result) };
    const merged = file ? mergeFiles(file, added) : added;
    try {
      file = readDetachedFile(writeDetachedFile(merged ?? added));
      return { calendar, status: 'done', message: null };
    } catch (error) {
      if (!(error instanceof MalformedTimestamp)) throw error;
      return say('failed', `sent a timestamp with which the file ${error.message}`);
    }
  });
  return { file, outcomes };
}

async function settle<Result>(asked: Promise<Result>): Promise<Result | RequestFault> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RequestFault) return error;
    if (error instanceof MalformedTimestamp) {
      return new RequestFault(`sent what is not a timestamp: it ${error.message}`);
    }
    throw error;
  }
}

/** Refuses an answer with so many blocks that looking for them would keep those of other calendars waiting. */
function contentOf(timestamp: TimestampTree): { uris: string[]; blocks: number } {
  const found = attestedIn(timestamp).map(({ attestation }) => attestation);
  const blocks = found.filter(({ kind }) => kind === 'bitcoin').length;
  if (blocks > maxBlocksOfAnswer) {
    throw new RequestFault(`names ${blocks} Bitcoin blocks in one answer, more than ${maxBlocksOfAnswer}`);
  }
  return {
    uris: found.flatMap((attestation) => (attestation.kind === 'pending' ? [attestation.uri] : [])),
    blocks,
  };
}

/** Each block once, also if several calendars used the same. */
function blocksIn(file: DetachedFile): Upgrade['bitcoin'] {
  const found = bitcoinIn(file).map(({ height, merkleRoot }) => ({
    height,
    merkleRoot: toHex(merkleRoot),
  }));
  return [...new Map(found.map((block) => [`${block.height} ${block.merkleRoot}`, block])).values()];
}

/** What still waits for a Bitcoin block; each calendar once for each commitment. */
function unsettled(file: DetachedFile): PendingCommitment[] {
  const asked = new Set<string>();
  return pendingIn(file).filter(({ uri, commitment, complete }) => {
    const question = `${calendarAddress(uri) ?? uri} ${toHex(commitment)}`;
    if (complete || asked.has(question)) return false;
    asked.add(question);
    return true;
  });
}
