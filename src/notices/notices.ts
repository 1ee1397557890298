/**
 * Raises and clears notices. One node does it at a time, and one commit has what was looked at, the notices, their events
 * and their mail: whatever is killed, everything is told, and told once.
 */
import { findWorkspace } from '../access/workspaces/workspaces.ts';
import { locks, tryWithLock } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import type { NoticeType } from '../events/catalogue.ts';
import type { Sign, ThingWatch, Watch } from '../events/notice.ts';
import { clearAfterMs, type Judgement, judge, type Wrong } from './judge.ts';
import { type Look, planLooks, takeLooks } from './looks.store.ts';
import { addMails } from './mail.store.ts';
import {
  clear,
  dropOldNotices,
  keepRaised,
  markWell,
  type Notice,
  openOfInstallation,
  openOfThings,
  raise,
  readClock,
} from './notices.store.ts';
import { dropOldSigns, readSigns, saveSigns } from './signs.store.ts';

/** At most this many things in one commit: an asset may have a thousand intervals. */
const looksAtOnce = 50;
/** For what one node finds in the database on behalf of all. */
const everyNode = '';

export interface Notices {
  /** One round; true if more is waiting. */
  step(): Promise<boolean>;
}

export interface NoticesDeps {
  db: Db;
  /** Whether mail is configured. */
  mails: boolean;
  /** What any node can see in the database. */
  watches: Watch[];
  thingWatches: ThingWatch[];
  /** How long a sign has to last, and all has to be well; shorter in tests. */
  holdMs: number;
  onTold(): void;
  onWatchFailed(name: string, error: unknown): void;
}

const upkeepEveryMs = 10 * 60_000;

export function createNotices(deps: NoticesDeps): Notices {
  const { db, mails, thingWatches, holdMs, onTold } = deps;
  const look = createLooks(deps.watches, deps.onWatchFailed);
  const afterMs = (type: NoticeType) => Math.min(clearAfterMs(type), holdMs);
  let upkeepAt = 0;

  async function tell(db: Db, { toRaise, toKeep, toWait, toClear }: Judgement, now: Date): Promise<boolean> {
    const raised = await raise(db, toRaise, now);
    await clear(db, toClear, now);
    await keepRaised(db, toKeep);
    await markWell(db, toWait, now);
    if (mails) await addMails(db, { raised, cleared: toClear });
    return raised.length + toClear.length > 0;
  }

  async function judgeInstallation(db: Db, now: Date): Promise<boolean> {
    const { id: workspaceId } = await findWorkspace(db);
    const wrong = (await readSigns(db)).map(
      ({ since, held, ...sign }): Wrong => ({
        ...sign,
        ...{ workspaceId, thing: '', since: since ?? now, raises: held },
      }),
    );
    return tell(db, judge(wrong, await openOfInstallation(db, workspaceId), { now, afterMs }), now);
  }

  async function judgeThings(db: Db, watch: ThingWatch, { looks, now }: { looks: Look[]; now: Date }) {
    const { kind, type } = watch;
    const things = [
      ...new Map(looks.map(({ workspaceId, id }) => [`${workspaceId}/${id}`, { workspaceId, id }])).values(),
    ];
    const findings = await watch.look(db, things, now);
    const wrong = findings.flatMap(({ workspaceId, id: thing, wrong }) =>
      wrong.map(
        ({ subject, data, since }): Wrong => ({
          ...{ workspaceId, type, thing, subject, data, since: since ?? now, raises: true },
        }),
      ),
    );
    const judgement = judge(wrong, await openOfThings(db, type, things), { now, afterMs });
    const isTold = await tell(db, judgement, now);
    await planLooks(db, kind, { things, at: [...plannedBy(findings), ...waitingFor(judgement.toWait, now)] });
    return isTold;
  }

  function waitingFor(notices: Notice[], now: Date) {
    return notices.map(({ workspaceId, thing, type }) => ({
      ...{ workspaceId, id: thing, at: new Date(now.getTime() + afterMs(type)) },
    }));
  }

  async function upkeep(db: Db): Promise<void> {
    if (performance.now() < upkeepAt) return;
    await dropOldSigns(db);
    await dropOldNotices(db);
    upkeepAt = performance.now() + upkeepEveryMs;
  }

  return {
    async step() {
      const signs = await look();
      let isTold = false;
      const more = await tryWithLock(db, locks.notices, async (db) => {
        const now = await readClock(db);
        await saveSigns(db, everyNode, { signs, holdMs });
        isTold = await judgeInstallation(db, now);
        const looks = await takeLooks(db, looksAtOnce);
        for (const watch of thingWatches) {
          const own = looks.filter(({ kind }) => kind === watch.kind);
          if (own.length > 0) isTold = (await judgeThings(db, watch, { looks: own, now })) || isTold;
        }
        await upkeep(db);
        return looks.length === looksAtOnce;
      });
      if (isTold) onTold();
      return more === true;
    },
  };
}

/** Stores what this node sees of itself, and of the chain while it leads. */
export function createReporter(deps: {
  db: Db;
  nodeId: string;
  watches: Watch[];
  holdMs: number;
  onWatchFailed(name: string, error: unknown): void;
}): () => Promise<void> {
  const { db, nodeId: reporter, watches, holdMs, onWatchFailed } = deps;
  const look = createLooks(watches, onWatchFailed);
  let reported = 0;
  return async () => {
    const signs = await look();
    if (signs.length + reported > 0) await saveSigns(db, reporter, { signs, holdMs });
    reported = signs.length;
  };
}

/** All signs of these watches; of one that fails, its last ones. */
function createLooks(watches: Watch[], onFailed: (name: string, error: unknown) => void) {
  const last = new Map<string, Sign[]>();
  return async (): Promise<Sign[]> => {
    const all = watches.map(async ({ name, look }) => {
      try {
        last.set(name, await look());
      } catch (error) {
        onFailed(name, error);
      }
      return last.get(name) ?? [];
    });
    return (await Promise.all(all)).flat();
  };
}

function plannedBy(findings: Awaited<ReturnType<ThingWatch['look']>>) {
  return findings.flatMap(({ workspaceId, id, lookAgainAt }) =>
    lookAgainAt ? [{ workspaceId, id, at: lookAgainAt }] : [],
  );
}
