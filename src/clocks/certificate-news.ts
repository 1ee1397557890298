/**
 * Until when the tokens of an authority count. While nothing is anchored there are no tokens to tell it; when older ones are
 * about to end, the authority is asked for one more, to see whether its certificate lasts longer by now.
 */
import { longestNoticeMs } from '../anchoring/evidence/renewal-rule.ts';
import { type BatchToStamp, newestBatch, nextEnd } from '../anchoring/evidence/timestamps.store.ts';
import type { Db } from '../db/database.ts';

export interface CertificateNews {
  /** When the certificate of the last token ends; null when there was none. */
  endsAt(): number | null;
  resume(newest: { agoMs: number; endsAt: number } | null): void;
  learn(endsAt: number): void;
  /** A batch that has its token: not null when the authority should be asked all the same. */
  batchToAskFor(): Promise<BatchToStamp | null>;
}

const hourMs = 3_600_000;
const longestMs = 30 * 24 * hourMs;
/** The nearer the end, the more often. */
const share = 8;
const lookEveryMs = 60_000;

export function createCertificateNews({ db, now }: { db: Db; now(): number }): CertificateNews {
  let known: { at: number; endsAt: number } | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    endsAt: () => known?.endsAt ?? null,
    resume(newest) {
      known = newest && { at: now() - newest.agoMs, endsAt: newest.endsAt };
      lookedAt = Number.NEGATIVE_INFINITY;
    },
    learn(endsAt) {
      known = { at: now(), endsAt };
    },
    async batchToAskFor() {
      const ageMs = known ? now() - known.at : Number.POSITIVE_INFINITY;
      if (ageMs < hourMs || Math.abs(now() - lookedAt) < lookEveryMs) return null;
      lookedAt = now();
      const end = await nextEnd(db, new Date(now()));
      const leftMs = end ? end.getTime() - now() : Number.POSITIVE_INFINITY;
      if (leftMs > longestNoticeMs) return null;
      return ageMs < Math.min(leftMs / share, longestMs) ? null : newestBatch(db);
    },
  };
}
