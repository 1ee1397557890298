/** A real SMTP server that keeps the mail it gets. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate } from './receiver.ts';

export interface MailServer {
  port: number;
  mails: ReceivedMail[];
  close(): Promise<void>;
}

export interface ReceivedMail {
  to: string;
  /** Whether it came over TLS. */
  secure: boolean;
  user: string | undefined;
  /** As it came, with headers. */
  raw: string;
  subject: string;
  text: string;
}

export interface MailServerOptions {
  port?: number;
  /** TLS from the first byte. */
  secure?: boolean;
  /** Without it, STARTTLS is offered. */
  plain?: boolean;
  password?: string;
  onRecipient?(address: string): void;
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { port = 0, secure = false, plain = false, password, onRecipient = () => {} } = options;
  const { cert, key } = certificate();
  const mails: ReceivedMail[] = [];
  const settings: SMTPServerOptions = {
    ...{ secure, cert, key, logger: false },
    authOptional: password === undefined,
    disabledCommands: [...(plain ? ['STARTTLS'] : []), ...(password === undefined ? ['AUTH'] : [])],
    onAuth({ username, password: given }, _session, done) {
      if (given === password) done(null, { user: username ?? '' });
      else done(new Error('Invalid username or password'));
    },
    onRcptTo({ address }, _session, done) {
      try {
        onRecipient(address);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        for (const { address: to } of session.envelope.rcptTo) {
          mails.push({ to, secure: session.secure, user: session.user, raw, ...parse(raw) });
        }
        done();
      });
    },
  };
  const server = new SMTPServer(settings);
  // A client that goes away in the middle.
  server.on('error', () => {});
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Of mail in plain text, as it is or in quoted-printable. */
function parse(raw: string): { subject: string; text: string } {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const body = raw.slice(end + 4);
  const subject = decoded(/^Subject: (.*)$/m.exec(headers)?.[1]?.trim() ?? '');
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable$/im.test(headers);
  return { subject, text: isQuoted ? unquoted(body) : body.replaceAll('\r\n', '\n') };
}

/** Words of a header in the form of RFC 2047. */
function decoded(header: string): string {
  return header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, words: string) => unquoted(words.replaceAll('_', ' ')));
}

function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}
