/** Sends mail through the SMTP server of the settings. */
import { readFileSync } from 'node:fs';
import type { Transporter } from 'nodemailer';
import type { MailConfig } from '../config/config.ts';
import { OperatorError } from '../runtime/errors.ts';
import { isLoopback } from '../runtime/host-address.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same for each attempt, so that mail programs can tell a repeated mail. */
  messageId?: string;
}

/**
 * `refused`: the server does not take mail for this recipient. `later`: not now, for this recipient. A server that cannot be
 * used for anybody is an error.
 */
export type MailOutcome = 'sent' | 'refused' | 'later';

export interface Mailer {
  send(mail: Mail): Promise<MailOutcome>;
  close(): void;
}

const waitMs = 10_000;

interface SmtpError extends Error {
  code?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

export function createMailer(config: MailConfig & { smtp: NonNullable<MailConfig['smtp']> }): Mailer {
  const { smtp, caFile } = config;
  const from = config.from ?? '';
  const options = {
    host: smtp.host,
    port: smtp.port,
    secure: smtp.secure,
    ...(smtp.user !== null && { auth: { user: smtp.user, pass: smtp.password } }),
    // A password goes over the network only if nobody can read it there.
    requireTLS: smtp.user !== null && !smtp.secure && !isLoopback(smtp.host) && smtp.host !== 'localhost',
    tls: caFile === null ? {} : { ca: readFileSync(caFile) },
    connectionTimeout: waitMs,
    greetingTimeout: waitMs,
    socketTimeout: 2 * waitMs,
    dnsTimeout: waitMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  let transport: Transporter | null = null;
  return {
    async send({ to, subject, text, messageId }) {
      try {
        // Loaded with the first mail, which most installations never send.
        transport ??= (await import('nodemailer')).default.createTransport(options);
        await transport.sendMail({
          ...{ from, to, subject, text },
          ...(messageId && { messageId }),
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return 'sent';
      } catch (error) {
        return outcomeOf(error as SmtpError, `${smtp.host}:${smtp.port}`);
      }
    },
    close: () => transport?.close(),
  };
}

function outcomeOf(error: SmtpError, server: string): MailOutcome {
  const { code, command, response, responseCode = 0 } = error;
  if (command === 'RCPT TO' && responseCode >= 500) return 'refused';
  if (command === 'RCPT TO' && responseCode >= 400) return 'later';
  const why = response ?? error.message;
  throw new OperatorError(
    code === 'EAUTH'
      ? `The mail server ${server} refuses user and password of HOLDFAST_SMTP_URL: ${why}`
      : `The mail server ${server} cannot be used: ${why}. Check HOLDFAST_SMTP_URL.`,
    { cause: error },
  );
}
