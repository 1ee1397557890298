/**
 * Decides where a request may go: to public addresses over https, and to what the operator allows for development. Checked
 * when the URL of a webhook is saved and again for every connection, on the very address that is connected to.
 */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { createNameLookup, type FoundAddress, type Resolve } from './name-lookup.ts';

/** The target is not allowed; the message says why without revealing anything about the target. */
export class BlockedTarget extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BlockedTarget';
  }
}

export interface AddressGuard {
  /** The normalised URL, if a connection to it would be allowed now. */
  vetUrl(url: string): Promise<URL>;
  /** The addresses that are allowed, at least one. */
  vetHost(target: { hostname: string; protocol: string }): Promise<FoundAddress[]>;
}

export interface AllowList {
  hosts: ReadonlySet<string>;
  ranges: BlockList;
}

const httpsOnly = 'Webhooks are only sent over https.';

export function createAddressGuard(allow: AllowList, resolve: Resolve = createNameLookup()): AddressGuard {
  const isAllowed = ({ address, family }: FoundAddress) =>
    allow.ranges.check(address, family === 4 ? 'ipv4' : 'ipv6');

  async function vetHost({
    hostname,
    protocol,
  }: {
    hostname: string;
    protocol: string;
  }): Promise<FoundAddress[]> {
    const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    const family = isIP(name);
    const addresses: FoundAddress[] =
      family === 0 ? await lookUp(name, protocol) : [{ address: name, family: family as 4 | 6 }];
    const exempt = allow.hosts.has(name) ? addresses : addresses.filter(isAllowed);
    if (protocol === 'https:') {
      const usable = addresses.filter((address) => exempt.includes(address) || isPublic(address.address));
      if (usable.length > 0) return usable;
      throw new BlockedTarget('The address is not public: webhooks are only sent to public addresses.');
    }
    if (exempt.length > 0) return exempt;
    throw new BlockedTarget(httpsOnly);
  }

  async function lookUp(name: string, protocol: string): Promise<FoundAddress[]> {
    try {
      return await resolve(name);
    } catch (error) {
      // Only an exempt address may be called without https, and without a lookup nobody knows whether this one is.
      throw protocol === 'https:' || allow.hosts.has(name) ? error : new BlockedTarget(httpsOnly);
    }
  }

  return {
    vetHost,
    async vetUrl(text) {
      if (!URL.canParse(text)) throw new BlockedTarget('This is not a URL.');
      const url = new URL(text);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new BlockedTarget(httpsOnly);
      if (url.username !== '' || url.password !== '')
        throw new BlockedTarget('The URL must not contain a user name or password.');
      url.hash = '';
      await vetHost(url);
      return url;
    },
  };
}

/** From the entries of HOLDFAST_WEBHOOK_ALLOW, which were validated when the settings were read. */
export function toAllowList(entries: string[]): AllowList {
  const hosts = new Set<string>();
  const ranges = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address);
    if (family === 0) hosts.add(entry);
    else ranges.addSubnet(address, Number(bits ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
  }
  return { hosts, ranges };
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public unicast, also when IPv4-mapped. Tunnels such as NAT64 and 6to4 could lead anywhere and are not public. */
function isPublic(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}
