/** The part of the service that tells people what needs their attention: by event, by mail, and in a list. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { MailConfig } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { ThingWatch, Watch } from '../events/notice.ts';
import type { Part } from '../http/api/part.ts';
import { type Changes, createWakeup, type LoopHealth, type Wakeup } from '../runtime/loop.ts';
import { createMailer } from './mailer.ts';
import { createMailing } from './mailing.ts';
import { diskWatch, loopWatch } from './node-signs.ts';
import { noticeMailLoop, noticeSignsLoop, noticesLoop } from './notices.loop.ts';
import { noticeRoutes } from './notices.routes.ts';
import { createNotices, createReporter } from './notices.ts';
import { usualHoldMs } from './signs.store.ts';

export interface NoticeTimes {
  /** How long something has to be wrong, or well again, before people are told; see `signs.store.ts`. */
  holdMs?: number;
  /** How often it looks. */
  lookMs?: number;
}

const usualLookMs = 5_000;

export interface NoticesPartDeps {
  db: Db;
  loopHealth(): LoopHealth[];
  disk: { dir: string; lowBytes: number };
  /** What every node looks at by itself, as the leader does at the chain. */
  nodeWatches: Watch[];
  /** What any one node finds in the database. */
  watches: Watch[];
  thingWatches: ThingWatch[];
  times?: NoticeTimes;
  publicUrl(): string;
  eventWakeup: Pick<Wakeup, 'wake'>;
  changes: Changes;
  log: Logger;
}

export function createNoticesPart(config: MailConfig, deps: NoticesPartDeps): Part {
  const { db, watches, thingWatches, publicUrl, eventWakeup, changes, log } = deps;
  const { holdMs = usualHoldMs, lookMs = usualLookMs } = deps.times ?? {};
  const { smtp } = config;
  const mailer = smtp && createMailer({ ...config, smtp });
  const mailWakeup = createWakeup();
  const onWatchFailed = (watch: string, error: unknown) =>
    log.debug({ watch, err: error }, 'could not look for signs of trouble');
  const notices = createNotices({
    ...{ db, watches, thingWatches, holdMs, onWatchFailed },
    mails: mailer !== null,
    onTold() {
      eventWakeup.wake();
      mailWakeup.wake();
    },
  });
  const report = createReporter({
    ...{ db, holdMs, onWatchFailed },
    nodeId: randomUUID(),
    watches: [loopWatch(deps.loopHealth), diskWatch(deps.disk), ...deps.nodeWatches],
  });
  return {
    nodeLoops: [noticeSignsLoop(report, lookMs)],
    loops: [
      noticesLoop(notices, lookMs),
      ...(mailer
        ? [noticeMailLoop(createMailing({ db, mailer, publicUrl, log }), { wakeup: mailWakeup, changes })]
        : []),
    ],
    routes(app, { cursors }) {
      noticeRoutes(app, { db, cursors, mails: mailer !== null });
    },
    close: () => mailer?.close(),
  };
}
