/** Decides which notices to raise, keep and clear, from what is wrong now and what is raised. */
import { isDeepStrictEqual } from 'node:util';
import type { NoticeType } from '../events/catalogue.ts';
import type { NewNotice, Notice } from './notices.store.ts';

/** What is wrong now. `raises`: bad enough, and for long enough, to be told. */
export interface Wrong extends Omit<NewNotice, 'since'> {
  since: Date;
  raises: boolean;
}

export interface Judgement {
  toRaise: Wrong[];
  toKeep: { notice: Notice; data: Record<string, unknown> }[];
  /** Well now, and perhaps only for a moment. */
  toWait: Notice[];
  toClear: Notice[];
}

/** How long all has to be well before that is told, by type. What is due or expires changes only by what people do. */
export function clearAfterMs(type: NoticeType): number {
  return type.startsWith('operator.') || type === 'endpoint.failing' ? 40_000 : 0;
}

export function judge(
  wrong: Wrong[],
  raised: Notice[],
  { now, afterMs = clearAfterMs }: { now: Date; afterMs?: (type: NoticeType) => number },
): Judgement {
  const open = new Map(raised.map((notice) => [keyOf(notice), notice]));
  const judgement: Judgement = { toRaise: [], toKeep: [], toWait: [], toClear: [] };
  const present = new Set<string>();
  for (const one of wrong) {
    const key = keyOf(one);
    if (present.has(key)) continue;
    present.add(key);
    const notice = open.get(key);
    if (!notice && one.raises) judgement.toRaise.push(one);
    if (notice && (notice.wellSince !== null || !isDeepStrictEqual(notice.data, one.data))) {
      judgement.toKeep.push({ notice, data: one.data });
    }
  }
  for (const [key, notice] of open) {
    if (present.has(key)) continue;
    const wellMs = notice.wellSince === null ? 0 : now.getTime() - notice.wellSince.getTime();
    if (wellMs >= afterMs(notice.type)) judgement.toClear.push(notice);
    else if (notice.wellSince === null) judgement.toWait.push(notice);
  }
  return judgement;
}

function keyOf({ workspaceId, type, thing, subject }: Omit<NewNotice, 'data' | 'since'>): string {
  return JSON.stringify([workspaceId, type, thing, subject]);
}
