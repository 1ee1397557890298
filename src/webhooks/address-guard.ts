/**
 * Decides whom a webhook may be sent to: public addresses over https, and what the operator allows for development.
 * Checked when an endpoint is saved and again for every connection, on the very address that is connected to.
 */
import { lookup as dnsLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The target may not be called; the message says why without telling anything about it. */
export class BlockedTarget extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BlockedTarget';
  }
}

export interface VettedAddress {
  address: string;
  family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<VettedAddress[]>;

export interface AddressGuard {
  /** The URL in its one normal form, when a connection to it would be allowed now. */
  vetUrl(url: string): Promise<URL>;
  /** The addresses that may be connected to, at least one. */
  vetHost(target: { hostname: string; protocol: string }): Promise<VettedAddress[]>;
}

export interface AllowList {
  hosts: ReadonlySet<string>;
  ranges: BlockList;
}

export function createAddressGuard(allow: AllowList, resolve: Resolve = resolveAll): AddressGuard {
  const isAllowed = ({ address, family }: VettedAddress) =>
    allow.ranges.check(address, family === 4 ? 'ipv4' : 'ipv6');

  async function vetHost({
    hostname,
    protocol,
  }: {
    hostname: string;
    protocol: string;
  }): Promise<VettedAddress[]> {
    const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    const family = isIP(name);
    const addresses: VettedAddress[] =
      family === 0 ? await resolve(name) : [{ address: name, family: family as 4 | 6 }];
    const exempt = allow.hosts.has(name) ? addresses : addresses.filter(isAllowed);
    if (protocol === 'https:') {
      const usable = addresses.filter((address) => exempt.includes(address) || isPublic(address.address));
      if (usable.length > 0) return usable;
      throw new BlockedTarget('The address is not public: webhooks are only sent to public addresses.');
    }
    if (exempt.length > 0) return exempt;
    throw new BlockedTarget('Webhooks are only sent over https.');
  }

  return {
    vetHost,
    async vetUrl(text) {
      if (!URL.canParse(text)) throw new BlockedTarget('This is not a URL.');
      const url = new URL(text);
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        throw new BlockedTarget('Webhooks are only sent over https.');
      if (url.username !== '' || url.password !== '')
        throw new BlockedTarget('The URL must not hold a user name or password.');
      url.hash = '';
      await vetHost(url);
      return url;
    },
  };
}

/** From the entries of HOLDFAST_WEBHOOK_ALLOW, which were checked when they were read. */
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

/** Public unicast, also behind an IPv4-mapped form; tunnels such as NAT64 and 6to4 could lead anywhere and are not. */
function isPublic(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}

async function resolveAll(hostname: string): Promise<VettedAddress[]> {
  const found = await dnsLookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
