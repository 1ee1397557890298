/** Settings for where the service listens, and which proxies may be in front of it. */
import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { isAddressRange } from '../runtime/host-address.ts';
import { anyText, type Field, optional, setting } from './setting.ts';

const certFileName = 'HOLDFAST_TLS_CERT_FILE';
const keyFileName = 'HOLDFAST_TLS_KEY_FILE';

const tls: Field<{ certFile: string; keyFile: string } | null> = {
  settings: [
    {
      name: certFileName,
      default: { words: 'none' },
      about: `Certificate chain in PEM form. With \`${keyFileName}\` the service speaks HTTPS itself. Read once, at the start.`,
    },
    {
      name: keyFileName,
      default: { words: 'none' },
      about: 'Private key of that certificate in PEM form.',
    },
  ],
  read({ text, fault, refuse }) {
    const certFile = text(certFileName);
    const keyFile = text(keyFileName);
    if ((certFile === null) !== (keyFile === null))
      refuse(`${certFileName} and ${keyFileName} go together: set both or neither.`);
    if (certFile !== null && !existsSync(certFile)) fault(certFileName, 'there is no such file');
    if (keyFile !== null && !existsSync(keyFile)) fault(keyFileName, 'there is no such file');
    if (certFile === null || keyFile === null) return null;
    try {
      createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    } catch (error) {
      const { message } = error as Error;
      refuse(`${certFileName} and ${keyFileName} are not a PEM certificate and its key: ${message}.`);
    }
    return { certFile, keyFile };
  },
};

export const addressSettings = {
  host: setting({
    name: 'HOST',
    default: '127.0.0.1',
    about:
      'Address or host name to listen on. Anything but loopback (`localhost`, `127.0.0.0/8`, `::1`) needs TLS or `HOLDFAST_TRUST_PROXY`, or the start is refused.',
    ...anyText,
  }),
  port: setting({
    name: 'PORT',
    default: '3000',
    about: 'Port to listen on, 0 to 65535; 0 takes any free one.',
    expected: 'give a number from 0 to 65535',
    parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined),
  }),
  /** Base of every link the service creates; null: derived from the address it listens on. */
  publicUrl: optional({
    name: 'HOLDFAST_PUBLIC_URL',
    default: { words: 'derived from `HOST` and `PORT`' },
    about:
      'Base of the links the service gives out, such as `docUrl` in errors. An `http` or `https` address without query, fragment or credentials.',
    expected: 'give an http or https address without query, such as https://holdfast.example.org',
    parse(text) {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return undefined;
      return text.replace(/\/+$/, '');
    },
  }),
  tls,
  /** Which proxies may tell the client's address: none, a number of hops, or addresses and CIDR ranges. */
  trustProxy: setting<false | number | string[]>({
    name: 'HOLDFAST_TRUST_PROXY',
    default: 'false',
    about:
      'Which proxies may say who the client is: `false`, or addresses and CIDR ranges separated by commas; on loopback also `true` (one proxy) or a number of them.',
    expected: 'give true, a number of hops, or addresses and CIDR ranges separated by commas',
    parse(text) {
      if (/^(false|off|no|0)$/i.test(text)) return false;
      if (/^(true|on|yes)$/i.test(text)) return 1;
      if (/^\d{1,2}$/.test(text)) return Number(text);
      const ranges = text.split(',').map((range) => range.trim());
      return ranges.every(isAddressRange) ? ranges : undefined;
    },
  }),
};
