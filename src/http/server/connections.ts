/**
 * Bounds the connections that are open at once. Without it, strangers use up the files that the process may have open: then
 * nothing is accepted any more, uploads fail, and neither anchoring nor webhooks get a connection of their own.
 */
import { readFileSync } from 'node:fs';
import { BlockList, isIP, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { networkOf } from '../../runtime/client-network.ts';

export interface ConnectionLimits {
  /** Of all clients. */
  most: number;
  /** Of a network that is no trusted proxy. */
  share: number;
}

/** For the database, the chain, webhooks, timestamps, blobs and logs. */
const reservedFiles = 256;
/** A request can have a file open beside its connection: an upload, or a download. */
const filesPerConnection = 2;
const partsOfShare = 4;
/** For systems that do not tell. */
const usualFiles = 4_096;
const leastConnections = 16;

export function connectionLimits(files = filesOfProcess()): ConnectionLimits {
  const free = Math.max(0, files - Math.min(reservedFiles, Math.floor(files / 2)));
  const most = Math.max(leastConnections, Math.floor(free / filesPerConnection));
  return { most, share: Math.max(leastConnections / 2, Math.floor(most / partsOfShare)) };
}

/** How many files the process may have open; Node.js raises it to the hard limit when it starts. */
function filesOfProcess(): number {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft) || usualFiles;
  } catch {
    return usualFiles;
  }
}

export interface BoundOptions extends ConnectionLimits {
  /** As in the setting: their connections are those of many clients. */
  trustProxy: false | number | string[];
  log: Pick<Logger, 'warn'>;
}

/** Closes connections beyond the limits at once. */
export function boundConnections(server: Server, { most, share, trustProxy, log }: BoundOptions): void {
  server.maxConnections = most;
  const isProxy = proxyTest(trustProxy);
  const open = new Map<string, number>();
  const tell = noMoreThanOncePerMinute((network: string | null) =>
    log.warn(
      { network, most, share },
      network === null
        ? 'connections refused: all that this node has are open'
        : 'connections refused: a network has its share open',
    ),
  );
  server.on('drop', () => tell(null));
  // First, so that nothing else begins with a connection that is refused.
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    if (isProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
    if (count <= share) return;
    socket.destroy();
    tell(network);
  });
}

function proxyTest(trustProxy: BoundOptions['trustProxy']): (address: string) => boolean {
  // With a number of hops, whoever connects is the last of them.
  if (typeof trustProxy === 'number') return () => trustProxy > 0;
  const proxies = new BlockList();
  for (const range of trustProxy || []) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address);
    if (family === 0) continue;
    proxies.addSubnet(address, Number(bits ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
  }
  return (address) => {
    const plain = networkOf(address).includes('/') ? address : networkOf(address);
    const family = isIP(plain);
    return family !== 0 && proxies.check(plain, family === 4 ? 'ipv4' : 'ipv6');
  };
}

function noMoreThanOncePerMinute<Told>(tell: (told: Told) => void): (told: Told) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (told) => {
    if (performance.now() < next) return;
    next = performance.now() + 60_000;
    tell(told);
  };
}
