/**
 * When a token is renewed: as late as is safe, because a proof has room for 16 renewals. With a new certificate every year
 * that lasts ten, a token is renewed every eight years and not every year.
 */
import { type RawBuilder, sql } from 'kysely';

/** A timestamp authority is going to be asked for a token of the batch that is made now. */
export interface PlannedStamp {
  /** Milliseconds since 1970. */
  at: number;
  /** When the certificate of that token will end, by the last one; null when there has been none. */
  endsAt: number | null;
}

const dayMs = 86_400_000;
/** Two years are enough to find another authority, or to renew millions of tokens, 2,000 with each head. */
export const longestNoticeMs = 2 * 365 * dayMs;
/** Where certificates are short, a token is renewed in the last quarter of the time that the next one lasts. */
const noticeShare = 4;
/** What ends hardly later renews nothing. */
const leastGainMs = dayMs;

/** Tokens that end before this are renewed now; null when there is nothing to renew them with. */
export function renewedIfBefore({ at, endsAt }: PlannedStamp): Date | null {
  if (endsAt === null) return null;
  const noticeMs = Math.min(longestNoticeMs, (endsAt - at) / noticeShare);
  return new Date(Math.min(at + noticeMs, endsAt - leastGainMs));
}

/**
 * Whether the token `newer`, of a batch whose head covers `older`, has renewed it: while `older` counted, and for at least
 * twice the time that was left. That is a little less than what is planned, as the authority's clock is not ours.
 */
export function isRenewedBy(older: string, newer: string): RawBuilder<boolean> {
  const of = (table: string, column: string) => sql.ref(`${table}.${column}`);
  const [end, newEnd, at] = [
    of(older, 'valid_until'),
    of(newer, 'valid_until'),
    of(newer, 'vouched_at'),
  ] as const;
  return sql<boolean>`(${at} < ${end} and ${newEnd} - ${end} >= greatest(interval '1 day', 2 * (${end} - ${at})))`;
}
