/** Sends the mail that is due, one person at a time. */
import type { Db } from '../db/database.ts';
import { dropMails, dropOldMails, type MailToSend, markSent, postpone, takeMail } from './mail.store.ts';
import { mailOf } from './mail-text.ts';
import type { Mailer } from './mailer.ts';

export interface MailingDeps {
  db: Db;
  mailer: Pick<Mailer, 'send'>;
  publicUrl(): string;
  log: { warn(details: object, message: string): void };
}

/** For a recipient whose server says "not now". */
const laterMs = [60_000, 5 * 60_000, 30 * 60_000, 3 * 60 * 60_000];
const upkeepEveryMs = 10 * 60_000;

/** One mail; true if there may be more. Throws if the server cannot be used, and keeps the mail. */
export function createMailing({ db, mailer, publicUrl, log }: MailingDeps): () => Promise<boolean> {
  let upkeepAt = 0;

  async function send(taken: MailToSend): Promise<void> {
    const { workspaceId, userId, rowIds } = taken;
    const url = publicUrl();
    const mail = mailOf(taken, { publicUrl: url, domain: new URL(url).hostname });
    const outcome = await mailer.send(mail).catch(async (error) => {
      await postpone(db, rowIds, 0);
      throw error;
    });
    if (outcome === 'sent') await markSent(db, taken);
    if (outcome === 'later') await postpone(db, rowIds, laterMs[taken.attempts - 1] ?? laterMs.at(-1) ?? 0);
    if (outcome === 'refused') {
      await dropMails(db, rowIds);
      log.warn({ workspaceId, userId, notices: rowIds.length }, 'the mail server refuses this recipient');
    }
  }

  async function upkeep(): Promise<void> {
    if (performance.now() < upkeepAt) return;
    const dropped = await dropOldMails(db);
    if (dropped > 0) log.warn({ dropped }, 'dropped mail that could not be sent for three days');
    upkeepAt = performance.now() + upkeepEveryMs;
  }

  return async () => {
    await upkeep();
    const taken = await takeMail(db);
    if (!taken) return false;
    if (taken.rowIds.length > 0) await send(taken);
    return true;
  };
}
