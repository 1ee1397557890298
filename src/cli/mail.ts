/** `holdfast mail test`: sends one mail, to try the settings. */
import type { Command } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { print } from './command.ts';
import { readSettings } from './settings.ts';

export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('try the settings of mail');
  mail
    .command('test')
    .description('send a mail to an address, with HOLDFAST_SMTP_URL and HOLDFAST_MAIL_FROM')
    .argument('<address>', 'who gets it')
    .option('--json', 'print {to, server, sent}')
    .addHelpText(
      'after',
      `
Nothing is stored, and no installation is needed. Exit code 0: the mail server took the mail. 1: it did not.`,
    )
    .action(async (to: string, options: { json?: boolean }) => {
      const server = await send(to);
      print(options, { to, server, sent: true }, `The mail server ${server} took the mail to ${to}.`);
    });
}

async function send(to: string): Promise<string> {
  const { mail } = readSettings(console.error);
  const { smtp } = mail;
  if (!smtp) {
    throw new OperatorError(
      'There is no mail server: set HOLDFAST_SMTP_URL, such as smtp://USER:PASSWORD@mail.example.com:587, and HOLDFAST_MAIL_FROM.',
    );
  }
  // Imported here so that other commands start faster.
  const { createMailer } = await import('../notices/mailer.ts');
  const mailer = createMailer({ ...mail, smtp });
  const server = `${smtp.host}:${smtp.port}`;
  try {
    const outcome = await mailer.send({
      to,
      subject: '[Holdfast] Test',
      text: 'This mail was sent by "holdfast mail test". Notices of Holdfast will come the same way.\n',
    });
    if (outcome !== 'sent') {
      const when = outcome === 'later' ? ' for now' : '';
      throw new OperatorError(`The mail server ${server} refuses mail to ${to}${when}.`);
    }
    return server;
  } finally {
    mailer.close();
  }
}
