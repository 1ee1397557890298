/** The text of a mail: plain English, one line for each notice, with links. */
import type { MailToSend } from './mail.store.ts';
import type { Mail } from './mailer.ts';
import { wordsOf } from './words.ts';

const mostListed = 20;

export function mailOf(
  { to, workspaceName, notices, rowIds }: MailToSend,
  { publicUrl, domain }: { publicUrl: string; domain: string },
): Mail {
  const told = notices.map(({ type, data, change }) => ({ ...wordsOf(type, data), change }));
  const [first] = told;
  const workspace = workspaceName.replace(/\p{C}+/gu, ' ');
  const title = first ? `${first.change === 'cleared' ? 'Resolved: ' : ''}${first.title}` : '';
  const subject = told.length === 1 ? title : `${told.length} notices, first: ${title}`;
  const items = told
    .slice(0, mostListed)
    .map(({ title, advice, path, change }) =>
      change === 'cleared' ? `Resolved: ${title}` : `${title}\n${advice}\n${linkTo(publicUrl, path)}`,
    );
  if (told.length > mostListed) items.push(`And ${told.length - mostListed} more.`);
  return {
    to,
    subject: `[Holdfast] ${workspace}: ${subject}`.slice(0, 200).toWellFormed(),
    text: `${items.join('\n\n')}\n\n--\n${footer(workspace, publicUrl)}\n`,
    messageId: `<notice-${rowIds[0]}-${rowIds.length}@${domain}>`,
  };
}

function footer(workspace: string, publicUrl: string): string {
  return [
    `All notices of the workspace ${workspace}: ${linkTo(publicUrl, '/')}`,
    `You get this mail as an owner or admin of it. Turn it off: ${linkTo(publicUrl, '/settings')}`,
  ].join('\n');
}

function linkTo(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/$/, '')}${path}`;
}
