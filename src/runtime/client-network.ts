/** What counts as one client: an IPv4 address, or the /64 network from which an IPv6 client can choose addresses. */
import ipaddr from 'ipaddr.js';

/** Undefined: the client has left, and nobody knows its address any more. All of those are one. */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'gone';
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  // Treats IPv4-mapped IPv6 as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(':')}::/64`;
}
