/** Mail in SQL: a row for each person and notice, until it is sent. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { NoticeType } from '../events/catalogue.ts';
import type { Notice } from './notices.store.ts';

/** Owners and admins; of very many, those who joined first. */
const mostRecipients = 100;
const mostAtOnce = 500;
/** For a person and workspace; what comes meanwhile is in one mail. */
const pace = "interval '30 seconds'";
/** Should the node that sends it die, another tries again after this time. Longer than sending may take. */
const lease = "interval '2 minutes'";

/** Good news is only mailed about what people wait for to work again. */
function mailsCleared(type: NoticeType): boolean {
  return type.startsWith('operator.') || type === 'endpoint.failing';
}

/** Nobody for whom the identity provider no longer vouches. */
export async function addMails(
  db: Db,
  { raised, cleared }: { raised: Notice[]; cleared: Notice[] },
): Promise<void> {
  const told = [
    ...raised.map(({ workspaceId, id }) => ({ workspace_id: workspaceId, id, change: 'raised' })),
    ...cleared
      .filter(({ type }) => mailsCleared(type))
      .map(({ workspaceId, id }) => ({ workspace_id: workspaceId, id, change: 'cleared' })),
  ];
  if (told.length === 0) return;
  await sql`
    insert into notice_mails (workspace_id, user_id, notice_id, change)
    select t.workspace_id, m.user_id, t.id, t.change
    from json_to_recordset(${JSON.stringify(told)}) as t (workspace_id text, id text, change text)
    cross join lateral (
      select m.user_id from members m
      left join notice_recipients r on r.workspace_id = m.workspace_id and r.user_id = m.user_id
      where m.workspace_id = t.workspace_id and m.role in ('owner', 'admin') and coalesce(r.wants_mail, true)
        and not exists (select 1 from identities i where i.user_id = m.user_id and i.gone_at is not null)
      order by m.created_at, m.user_id limit ${mostRecipients}
    ) as m`.execute(db);
}

export interface MailToSend {
  workspaceId: string;
  workspaceName: string;
  userId: string;
  to: string;
  /** The rows that it stands for; there may be more than notices. */
  rowIds: number[];
  attempts: number;
  notices: { type: NoticeType; id: string; data: Record<string, unknown>; change: 'raised' | 'cleared' }[];
}

/** Everything that is due for one person, taken for a while by this node; null when nothing is. */
export async function takeMail(db: Db): Promise<MailToSend | null> {
  return db.transaction().execute(async (db) => {
    const { rows: first } = await sql<{ workspace_id: string; user_id: string; paced_until: Date | null }>`
      select m.workspace_id, m.user_id,
        (select r.mailed_at + ${sql.raw(pace)} from notice_recipients r
         where r.workspace_id = m.workspace_id and r.user_id = m.user_id and r.mailed_at > now() - ${sql.raw(pace)}
        ) as paced_until
      from notice_mails m where m.due_at <= now() order by m.due_at, m.id limit 1
      for update of m skip locked`.execute(db);
    const [person] = first;
    if (!person) return null;
    const { workspace_id: workspaceId, user_id: userId, paced_until: pacedUntil } = person;
    if (pacedUntil) {
      await sql`
        update notice_mails set due_at = ${pacedUntil}
        where workspace_id = ${workspaceId} and user_id = ${userId} and due_at <= now()`.execute(db);
      return takeNothing(workspaceId, userId);
    }
    const { rows } = await sql<MailRow>`
      with taken as (
        update notice_mails set due_at = now() + ${sql.raw(lease)}, attempts = attempts + 1
        where id in (
          select id from notice_mails
          where workspace_id = ${workspaceId} and user_id = ${userId} and due_at <= now()
          order by due_at, id limit ${mostAtOnce} for update skip locked
        ) returning *
      )
      select t.id, t.change, t.attempts, n.type, n.id as notice_id, n.data, u.email, w.name
      from taken t
      join notices n on n.workspace_id = t.workspace_id and n.id = t.notice_id
      join users u on u.id = t.user_id join workspaces w on w.id = t.workspace_id
      order by t.id`.execute(db);
    const [one] = rows;
    if (!one) return takeNothing(workspaceId, userId);
    return {
      ...{ workspaceId, userId, workspaceName: one.name, to: one.email },
      rowIds: rows.map(({ id }) => id),
      attempts: Math.max(...rows.map(({ attempts }) => attempts)),
      notices: rows.map(({ type, notice_id: id, data, change }) => ({ type, id, data, change })),
    };
  });
}

interface MailRow {
  id: number;
  change: 'raised' | 'cleared';
  attempts: number;
  type: NoticeType;
  notice_id: string;
  data: Record<string, unknown>;
  email: string;
  name: string;
}

/** There is more to look at, but nothing to send for this person now. */
function takeNothing(workspaceId: string, userId: string): MailToSend {
  return { workspaceId, userId, workspaceName: '', to: '', rowIds: [], attempts: 0, notices: [] };
}

export async function markSent(db: Db, { workspaceId, userId, rowIds }: MailToSend): Promise<void> {
  await db.transaction().execute(async (db) => {
    await dropMails(db, rowIds);
    await sql`
      insert into notice_recipients (workspace_id, user_id, mailed_at)
      select workspace_id, user_id, now() from members
      where workspace_id = ${workspaceId} and user_id = ${userId}
      on conflict (workspace_id, user_id) do update set mailed_at = now()`.execute(db);
  });
}

export async function dropMails(db: Db, rowIds: number[]): Promise<void> {
  await sql`delete from notice_mails where id = any (${rowIds}::bigint[])`.execute(db);
}

export async function postpone(db: Db, rowIds: number[], afterMs: number): Promise<void> {
  await sql`
    update notice_mails set due_at = now() + ${afterMs} * interval '1 millisecond'
    where id = any (${rowIds}::bigint[])`.execute(db);
}

/** What could not be sent for days helps nobody any more. Returns how many. */
export async function dropOldMails(db: Db): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from notice_mails where created_at < now() - interval '3 days'`.execute(db);
  return Number(numAffectedRows);
}

/** Whether a person wants mail of a workspace. */
export async function wantsMail(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('notice_recipients')
    .select('wants_mail')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.wants_mail ?? true;
}

export async function setWantsMail(
  db: Db,
  { workspaceId, userId, wanted }: { workspaceId: string; userId: string; wanted: boolean },
): Promise<void> {
  await sql`
    insert into notice_recipients (workspace_id, user_id, wants_mail)
    values (${workspaceId}, ${userId}, ${wanted})
    on conflict (workspace_id, user_id) do update set wants_mail = excluded.wants_mail`.execute(db);
}
