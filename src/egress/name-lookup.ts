/**
 * Resolves host names: those of the hosts file from the file, all others by asking name servers. Never by the resolver of the
 * system (getaddrinfo): it blocks a thread until it gives up, a minute and more where a name server is silent, and the whole
 * service has four of them, for files and every other name too.
 */

import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface FoundAddress {
  address: string;
  family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<FoundAddress[]>;

export interface NameLookupOptions {
  hostsFile?: string;
  resolvFile?: string;
  /** In place of those that the system names. */
  servers?: readonly string[];
  /** For one name, with all its suffixes. */
  deadlineMs?: number;
}

/** The last with all name servers and tries: a receiver that is sent to has its own deadline. */
const usualDeadlineMs = 8_000;
/** As in resolv.conf(5). */
const mostSuffixes = 6;

export function createNameLookup({
  hostsFile = '/etc/hosts',
  resolvFile = '/etc/resolv.conf',
  servers,
  deadlineMs = usualDeadlineMs,
}: NameLookupOptions = {}): Resolve {
  const hosts = readWhenChanged(hostsFile, readHosts);
  const search = readWhenChanged(resolvFile, readSearch);

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return thisMachine;
    const known = (await hosts())?.get(name);
    if (known) return known;
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) resolver.setServers(servers);
    const deadline = setTimeout(() => resolver.cancel(), deadlineMs);
    try {
      return await askServers(resolver, hostname.endsWith('.') ? [name] : namesFor(name, await search()));
    } finally {
      clearTimeout(deadline);
    }
  };
}

const thisMachine: FoundAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The first of the names that has addresses. */
async function askServers(resolver: Resolver, names: string[]): Promise<FoundAddress[]> {
  for (const name of names) {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found: FoundAddress[] = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    const codes = [v4, v6].map((asked) => (asked.status === 'rejected' ? asked.reason.code : 'ENODATA'));
    if (codes.some((code) => code === 'ETIMEOUT' || code === 'ECANCELLED')) throw failed(name, 'ETIMEOUT');
    if (codes.some((code) => !notThere.has(code))) throw failed(name, 'EAI_AGAIN');
  }
  throw failed(names[0] ?? '', 'ENOTFOUND');
}

const notThere = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function failed(name: string, code: 'ENOTFOUND' | 'ETIMEOUT' | 'EAI_AGAIN'): Error {
  return Object.assign(new Error(`${name}: ${code}`), { code });
}

interface Search {
  suffixes: string[];
  /** A name with fewer dots is tried with the suffixes first. */
  dots: number;
}

function namesFor(name: string, search: Search | null): string[] {
  const { suffixes, dots } = search ?? { suffixes: [], dots: 1 };
  const longer = suffixes.map((suffix) => `${name}.${suffix}`);
  return name.split('.').length - 1 < dots ? [...longer, name] : [name, ...longer];
}

function readSearch(text: string): Search {
  const search: Search = { suffixes: [], dots: 1 };
  for (const [keyword, ...values] of wordsOfLines(text, /[#;]/)) {
    if (keyword === 'search' || keyword === 'domain') {
      search.suffixes = values
        .slice(0, mostSuffixes)
        .map((suffix) => suffix.toLowerCase().replace(/^\.|\.$/g, ''));
    }
    const given =
      keyword === 'options' && values.map((value) => /^ndots:(\d+)$/.exec(value)?.[1]).find(Boolean);
    if (given) search.dots = Math.min(15, Number(given));
  }
  search.suffixes = search.suffixes.filter((suffix) => suffix !== '');
  return search;
}

function readHosts(text: string): Map<string, FoundAddress[]> {
  const hosts = new Map<string, FoundAddress[]>();
  for (const [address = '', ...names] of wordsOfLines(text, /#/)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family: family as 4 | 6 }]);
    }
  }
  return hosts;
}

function wordsOfLines(text: string, comment: RegExp): string[][] {
  return text
    .split('\n')
    .map((line) => (line.split(comment)[0] ?? '').split(/\s+/).filter(Boolean))
    .filter((words) => words.length > 0);
}

/** Null: there is no such file. */
function readWhenChanged<Content>(
  file: string,
  read: (text: string) => Content,
): () => Promise<Content | null> {
  let known: { version: string; content: Content } | null = null;
  return async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (known?.version !== version) known = { version, content: read(await readFile(file, 'utf8')) };
      return known.content;
    } catch {
      return null;
    }
  };
}
