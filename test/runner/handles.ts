/** What keeps a process running: its open handles and timers, each with what can be said about it. */
import { createHook } from 'node:async_hooks';
import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a file may take, after its last test, until nothing of it is open. */
export const longestEndMs: number = Number(process.env.HOLDFAST_TEST_LONGEST_END_MS ?? 2_000);

const timers = new Map<number, WeakRef<NodeJS.Timeout>>();

// Node.js has no list of timers. Without promises the hook costs next to nothing.
createHook({
  init(id, type, _trigger, resource) {
    if (type === 'Timeout') timers.set(id, new WeakRef(resource as NodeJS.Timeout));
  },
  destroy: (id) => timers.delete(id),
  ...({ trackPromises: false } as object),
}).enable();

/** Those that would keep the process running. */
export function openHandles(): Set<object> {
  const { _getActiveHandles: handles, _getActiveRequests: requests } = process as unknown as Record<
    '_getActiveHandles' | '_getActiveRequests',
    () => object[]
  >;
  const running = [...timers.values()]
    .map((timer) => timer.deref())
    .filter((timer) => timer !== undefined && timer.hasRef() && !('_destroyed' in timer && timer._destroyed));
  return new Set([
    ...handles().filter((handle) => !('_isStdio' in handle)),
    ...requests(),
    ...running,
  ] as object[]);
}

/** Waits until only those are open that were before; the names of the others when they stay. */
export async function leftOpen(before: Set<object>): Promise<string[]> {
  for (const deadline = performance.now() + longestEndMs; ; await sleep(10, undefined, { ref: false })) {
    const left = [...openHandles()].filter((handle) => !before.has(handle));
    if (left.length === 0 || performance.now() > deadline) return left.map(nameOf);
  }
}

export function nameOf(handle: object): string {
  if (handle instanceof ChildProcess)
    return `process ${handle.pid} (${handle.spawnargs.join(' ').slice(0, 200)})`;
  if (handle instanceof Server) return `server at ${JSON.stringify(handle.address())}`;
  if (handle instanceof Socket) {
    const { localPort, remoteAddress, remotePort } = handle;
    return remotePort === undefined
      ? `${handle.constructor.name} without a peer`
      : `connection from port ${localPort} to ${remoteAddress}:${remotePort}`;
  }
  if ('_onTimeout' in handle) {
    const { _idleTimeout: ms, _onTimeout: run } = handle as unknown as {
      _idleTimeout: number;
      _onTimeout: unknown;
    };
    return `timer of ${ms} ms: ${String(run).replace(/\s+/g, ' ').slice(0, 120)}`;
  }
  return handle.constructor.name;
}
