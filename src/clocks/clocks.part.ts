/** The part of the service for the clocks beside the chain: timestamp authorities and OpenTimestamps. */
import type { Logger } from 'pino';
import type { PlannedStamp } from '../anchoring/evidence/renewal-rule.ts';
import type { Lead } from '../chain/chain.ts';
import type { ClockConfig } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import { createGuardedRequests } from '../egress/guarded-request.ts';
import type { Part } from '../http/api/part.ts';
import type { Changes } from '../runtime/loop.ts';
import { createAskAuthority } from './authority.ts';
import { createBitcoinHeaders } from './bitcoin-headers.ts';
import { type ClocksState, readClocksState } from './clocks-state.ts';
import { createClockMetrics } from './metrics.ts';
import { createCalendarClient } from './opentimestamps/calendar-client.ts';
import { otsLoop } from './ots.loop.ts';
import { createOpenTimestamps } from './ots.ts';
import { createPublishedFiles } from './published-files.ts';
import { readRoots } from './roots.ts';
import { stampingLoop } from './stamping.loop.ts';
import { createStamping } from './stamping.ts';

export interface Clocks extends Part {
  /** Not null if a batch that is made now will be stamped. */
  plannedStamp(): PlannedStamp | null;
  readState(): Promise<ClocksState>;
}

export interface ClocksDeps {
  db: Db;
  lead(): Lead | null;
  changes: Changes;
  /** From one batch to the next. */
  anchorIntervalMs: number;
  /** Hosts, addresses and networks that need not be public. */
  allow: readonly string[];
  log: Logger;
}

const calendarTimeoutMs = 15_000;

export function createClocks(config: ClockConfig, deps: ClocksDeps): Clocks {
  const { authorities, calendars } = config;
  const { db, lead, changes, anchorIntervalMs, allow, log } = deps;
  const now = () => Date.now();
  const hasCalendars = calendars.length > 0;
  const metrics = createClockMetrics({ db, authorities, hasCalendars });
  const roots = readRoots(config.rootsFile);
  const requests = createGuardedRequests({ allow });
  const ask = createAskAuthority({ requests, files: createPublishedFiles({ requests, now }), roots, now });
  const stamping = createStamping({
    ...{ db, authorities, ask, maxPerHour: config.maxPerHour, anchorIntervalMs, log, now },
    onAnswer: metrics.onAnswer,
  });
  const client = hasCalendars
    ? createCalendarClient({ calendars, timeoutMs: calendarTimeoutMs, allow })
    : null;
  const { bitcoinUrl } = config;
  const findHeader = bitcoinUrl === null ? null : createBitcoinHeaders({ url: bitcoinUrl, requests });
  const openTimestamps =
    client && createOpenTimestamps({ db, client, findHeader, log, now, onComplete: metrics.onComplete });
  return {
    plannedStamp: stamping.plannedStamp,
    metrics: metrics.all,
    loops: [
      ...(authorities.length > 0 ? [stampingLoop(stamping, { lead, changes })] : []),
      ...(openTimestamps ? [otsLoop(openTimestamps, { lead, changes })] : []),
    ],
    readState: () =>
      readClocksState({ db, lanes: stamping.lanes, hasCalendars, isLeading: () => lead() !== null }),
    async close() {
      await client?.close();
      await requests.close();
    },
  };
}
