/**
 * Has the newest batches stamped by timestamp authorities. Nothing that anybody does waits for it: what an authority
 * missed is covered by the head of the next batch that it stamps.
 */
import { createHash } from 'node:crypto';
import { idleMs } from '../anchoring/evidence/head-alone.ts';
import type { PlannedStamp } from '../anchoring/evidence/renewal-rule.ts';
import { type BatchToStamp, batchToStamp, storeToken } from '../anchoring/evidence/timestamps.store.ts';
import type { Lead } from '../chain/chain.ts';
import type { Db } from '../db/database.ts';
import type { LoopLog } from '../runtime/loop.ts';
import { type AskAuthority, faultOf } from './authority.ts';
import { createCertificateNews } from './certificate-news.ts';
import { createPace } from './pace.ts';
import { noteRequest, noteToken, readRequests } from './requests.store.ts';

export interface Stamping {
  /** One for each authority, so that a slow one does not delay another. */
  lanes: StampingLane[];
  /** Not null if a batch that is made now will be stamped, so that its head should cover what is not stamped yet. */
  plannedStamp(): PlannedStamp | null;
}

export interface StampingLane {
  /** What the authority is called in metrics and on the overview. */
  name: string;
  url: string;
  /** Makes a request if one is due; returns after how many milliseconds another step may have something to do. */
  step(lead: Lead, signal: AbortSignal): Promise<number>;
  /** Since when it has not given a token that it was asked for; null while all is well, and where this node does not lead. */
  awaySince(): Date | null;
}

export interface StampingDeps {
  db: Db;
  /** URLs of the authorities. */
  authorities: readonly string[];
  ask: AskAuthority;
  maxPerHour: number;
  /** From one batch to the next. */
  anchorIntervalMs: number;
  log: LoopLog;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called after each request, with the name of the authority. */
  onAnswer(authority: string, outcome: 'stored' | 'failed'): void;
}

/** How often to look for a new batch; whoever changes the database also has the loop look. */
const lookMs = 1_000;
/** For a request, and for the certificates and lists that belong to the token. */
const longestMs = 45_000;

export function createStamping(deps: StampingDeps): Stamping {
  const lanes = deps.authorities.map((url) => createLane(url, deps));
  return {
    lanes,
    plannedStamp() {
      const ready = lanes.filter((lane) => lane.isReady());
      if (ready.length === 0) return null;
      const ends = ready.flatMap((lane) => lane.endsAt() ?? []);
      return { at: deps.now(), endsAt: ends.length > 0 ? Math.max(...ends) : null };
    },
  };
}

interface ReadyLane extends StampingLane {
  isReady(): boolean;
  /** When the certificate of its next token will end, as far as we know. */
  endsAt(): number | null;
}

function createLane(url: string, deps: StampingDeps): ReadyLane {
  const { db, ask, maxPerHour, anchorIntervalMs, log, now, onAnswer } = deps;
  const name = nameOfAuthority(url);
  const spacingMs = 3_600_000 / maxPerHour;
  const pace = createPace({ spacingMs, now });
  const news = createCertificateNews({ db, now });
  /** A head that covers everything is worth this wait; where batches are rare, it is not. */
  const graceMs = Math.min(spacingMs, 2 * anchorIntervalMs + 3_000);
  let epoch: number | null = null;
  let isBusy = false;
  let awaySince: Date | null = null;
  let toldFault: string | null = null;

  /** The requests before a restart, and those of another node that led before, count as well. */
  async function resume(lead: Lead): Promise<void> {
    if (epoch === lead.term.epoch) return;
    epoch = null;
    const { last, newest } = await readRequests(db, url);
    pace.resume(last);
    news.resume(newest);
    awaySince = null;
    toldFault = null;
    epoch = lead.term.epoch;
  }

  async function request(lead: Lead, batch: BatchToStamp, signal: AbortSignal): Promise<void> {
    pace.begin();
    await lead.term.commit((db) => noteRequest(db, url));
    const limited = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
    const imprint = createHash('sha256').update(batch.root).digest();
    const attempt = await ask(url, imprint, limited);
    // This node stops, which says nothing about the authority.
    if (signal.aborted) return;
    if (!attempt.stamp) {
      fail(faultOf(attempt) ?? '');
      return;
    }
    const { token, certificates, crls, judged } = attempt.stamp;
    const isStored = await lead.term.commit(async (db) => {
      await noteToken(db, url);
      return storeToken(db, {
        batchId: batch.id,
        authority: url,
        token,
        certificates,
        crls,
        vouchedAt: new Date(judged.time + judged.accuracyMs),
        validUntil: new Date(judged.validUntil),
      });
    });
    news.learn(judged.validUntil);
    succeed(isStored);
  }

  function fail(fault: string): void {
    pace.fail();
    awaySince ??= new Date(now());
    onAnswer(name, 'failed');
    // Once for each reason: it may be away for days.
    if (fault !== toldFault) log.error({ authority: name, error: fault }, 'no timestamp token');
    toldFault = fault;
  }

  function succeed(isStored: boolean): void {
    pace.succeed();
    if (isStored) onAnswer(name, 'stored');
    if (awaySince) log.info({ authority: name, since: awaySince }, 'timestamp tokens again');
    awaySince = null;
    toldFault = null;
  }

  return {
    name,
    url,
    awaySince: () => awaySince,
    isReady: () => epoch !== null && !isBusy && pace.isHealthy() && pace.dueAt() <= now(),
    endsAt: news.endsAt,
    async step(lead, signal) {
      await resume(lead);
      const dueAt = pace.dueAt();
      if (dueAt > now()) return dueAt - now();
      const batch =
        (await batchToStamp(db, { authority: url, idleMs: Math.max(idleMs, 2 * anchorIntervalMs) })) ??
        // Its token is not stored: only the certificate is of interest.
        (await news.batchToAskFor());
      if (!batch) return lookMs;
      // The next batch is made with a head that covers all, because `isReady`.
      if (!batch.coversAll && pace.isHealthy() && now() < dueAt + graceMs) return lookMs / 4;
      isBusy = true;
      try {
        await request(lead, batch, signal);
      } finally {
        isBusy = false;
      }
      return pace.dueAt() - now();
    },
  };
}

/** Without a query, in which some have a key. */
export function nameOfAuthority(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname.replace(/\/$/, '')}`;
}
