/**
 * Resolves host names. Asks name servers directly: the system resolver has two threads for the whole service, and two
 * names whose servers do not answer would block every other receiver. Falls back to the system for names that name
 * servers do not know, such as those in /etc/hosts.
 */
import { lookup, Resolver } from 'node:dns/promises';

export interface FoundAddress {
  address: string;
  family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<FoundAddress[]>;

/** For this long, a name that only the system knew goes straight to the system. */
const rememberMs = 60_000;
const mostRemembered = 10_000;

export function createNameLookup(): Resolve {
  const systemNames = new Map<string, number>();
  /** Names whose name servers do not answer go to the system one at a time: the system may take as long. */
  let slowOnes: Promise<unknown> = Promise.resolve();

  async function askSystem(hostname: string): Promise<FoundAddress[]> {
    const found = await lookup(hostname, { all: true });
    if (systemNames.size >= mostRemembered) systemNames.clear();
    systemNames.set(hostname, Date.now() + rememberMs);
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  }

  return async (hostname) => {
    const local = hostname === 'localhost' || hostname.endsWith('.localhost');
    if (local || (systemNames.get(hostname) ?? 0) > Date.now()) return askSystem(hostname);
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: FoundAddress[] = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    const silent = [v4, v6].some((asked) => asked.status === 'rejected' && asked.reason.code === 'ETIMEOUT');
    if (!silent) return askSystem(hostname);
    const answered = slowOnes.then(() => askSystem(hostname));
    slowOnes = answered.catch(() => {});
    return answered;
  };
}
