/** Addresses of OpenTimestamps calendars in one form, so that they can be compared. */
import { BlockList, isIPv4 } from 'node:net';
import { OperatorError } from '../../runtime/errors.ts';

/** The address with its path ending in "/", or null if no calendar may have it: https, or http on this machine. */
export function calendarAddress(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const { protocol, username, password, search, hash } = url;
  if (`${username}${password}${search}${hash}` !== '') return null;
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(url.hostname))) return null;
  url.hostname = url.hostname.replace(/\.$/, '');
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

/** Of the setting; says which one cannot be used. */
export function configuredAddresses(calendars: readonly string[]): string[] {
  const addresses = calendars.map((text) => {
    const address = calendarAddress(text);
    if (address !== null) return address;
    throw new OperatorError(
      `${text} is not the address of a calendar: use https://HOST without user name, password, query and fragment (http only on this machine).`,
    );
  });
  return [...new Set(addresses)];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && loopback.check(hostname));
}
