/** Settings of mail about notices. */
import { anyText, existingFile, type Field, optional, type Setting } from './setting.ts';

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte; otherwise STARTTLS, if the server has it. */
  secure: boolean;
  user: string | null;
  password: string;
}

const smtpName = 'HOLDFAST_SMTP_URL';
const fromName = 'HOLDFAST_MAIL_FROM';

const smtp: Setting = {
  name: smtpName,
  default: { words: 'none: no mail' },
  about:
    'The mail server for [notices](#notices-by-mail), such as `smtp://USER:PASSWORD@mail.example.com:587`, or `smtps://` for TLS from the first byte (port 465). A password is only sent over TLS, except on loopback.',
};

export const mailSettings: {
  smtp: Field<SmtpServer | null>;
  from: Field<string | null>;
  caFile: Field<string | null>;
} = {
  smtp: {
    settings: [smtp],
    read({ text, refuse }) {
      const given = text(smtpName);
      if (given === null) return null;
      const server = parseSmtpUrl(given);
      if (!server) refuse(`${smtpName} is not of the form smtp://USER:PASSWORD@HOST:PORT or smtps://….`);
      if (text(fromName) === null) {
        refuse(`${smtpName} needs ${fromName}, the address that mail comes from.`);
      }
      return server;
    },
  },
  from: optional({
    name: fromName,
    default: { words: 'none; needed for mail' },
    about: 'The sender of mail, such as `Holdfast <holdfast@example.com>`.',
    ...anyText,
    expected: 'give an address such as holdfast@example.com, or Holdfast <holdfast@example.com>',
    parse: (text) => (/^([^<>@\r\n]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(text) ? text : undefined),
  }),
  caFile: optional({
    name: 'HOLDFAST_SMTP_CA_FILE',
    default: { words: 'those of Node.js' },
    about: 'Certificate authorities (PEM) of a mail server with a private one.',
    ...existingFile,
  }),
};

const usualPorts = { 'smtp:': 587, 'smtps:': 465 } as const;

export function parseSmtpUrl(text: string): SmtpServer | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') return null;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return null;
  if (url.password !== '' && url.username === '') return null;
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? usualPorts[url.protocol] : Number(url.port),
      secure: url.protocol === 'smtps:',
      user: url.username === '' ? null : decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    return null;
  }
}
