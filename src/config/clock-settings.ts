/** Settings of the clocks beside the chain: timestamp authorities and OpenTimestamps. */
import { isLoopback } from '../runtime/host-address.ts';
import { countTo, existingFile, optional, setting, splitList } from './setting.ts';

/** Each adds a token to every proof. */
const mostAuthorities = 4;
const mostCalendars = 8;
const form = 'https, or http on this machine, without user name, password and fragment';
/** Somebody may have put a password into an address, so that messages do not repeat it. */
const secret = true;

export const clockSettings = {
  /** URLs of timestamp authorities. */
  authorities: optional<string[], string[]>(
    {
      name: 'HOLDFAST_TSA_URLS',
      default: { words: 'none' },
      about: `Addresses of timestamp authorities (RFC 3161) that vouch for the time of batches, separated by commas; at most ${mostAuthorities}. \`https\`, or \`http\` on this machine.`,
      see: '[timestamps.md](timestamps.md)',
      expected: `URL,URL: at most ${mostAuthorities}, ${form}`,
      secret,
      parse: (text) => parseAddresses(text, mostAuthorities),
    },
    () => [],
  ),
  rootsFile: optional({
    name: 'HOLDFAST_TSA_ROOTS',
    default: { words: 'the roots that ship with Holdfast' },
    about:
      'A PEM file with the root certificates that tokens of the authorities must lead to, instead of the roots that ship. Whoever verifies a proof decides for themselves which roots to trust.',
    see: '[timestamps.md](timestamps.md#whom-a-token-leads-to)',
    ...existingFile,
  }),
  maxPerHour: setting({
    name: 'HOLDFAST_TSA_MAX_PER_HOUR',
    default: '60',
    about:
      'The most requests that an authority gets in an hour, evenly spread. Batches above it are covered by the next one that is stamped.',
    ...countTo(3_600),
  }),
  /** URLs of OpenTimestamps calendars. */
  calendars: optional<string[], string[]>(
    {
      name: 'HOLDFAST_OTS_CALENDARS',
      default: { words: 'none: OpenTimestamps is off' },
      about: `Addresses of OpenTimestamps calendars, separated by commas; at most ${mostCalendars}.`,
      see: '[timestamps.md](timestamps.md#opentimestamps)',
      expected: `URL,URL: at most ${mostCalendars}, ${form} and query`,
      secret,
      parse(text) {
        const urls = parseAddresses(text, mostCalendars);
        return urls?.every((url) => new URL(url).search === '') ? urls : undefined;
      },
    },
    () => [],
  ),
  /** The headers of Bitcoin blocks come from there. */
  bitcoinUrl: optional({
    name: 'HOLDFAST_BITCOIN_URL',
    default: { words: 'none: this service checks no proofs by OpenTimestamps' },
    about:
      'An HTTP API in the form of Esplora that gives headers of Bitcoin blocks, such as `https://blockstream.info/api`. They are checked, and go into proofs by OpenTimestamps.',
    see: '[timestamps.md](timestamps.md#opentimestamps)',
    expected: `URL: ${form} and query`,
    secret,
    parse(text) {
      const url = serverUrl(text);
      return url === null || new URL(url).search !== '' ? undefined : url.replace(/\/+$/, '');
    },
  }),
};

/** In its usual form, or null: https, or http on this machine, without what should not be stored or shown. */
export function serverUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, username, password, hash, href } = new URL(text);
  if (`${username}${password}${hash}` !== '') return null;
  const isLocal = isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return protocol === 'https:' || (protocol === 'http:' && isLocal) ? href : null;
}

function parseAddresses(text: string, most: number): string[] | undefined {
  const urls = [...new Set(splitList(text).map(serverUrl))];
  const isValid = (url: string | null): url is string => url !== null;
  return urls.every(isValid) && urls.length <= most ? urls : undefined;
}
