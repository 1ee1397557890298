/** A process that uses a known amount of CPU time: by itself, in a thread that ends, and in a child that ends. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

process.on(
  'message',
  async ({ ownMs, threadMs, childMs }: { ownMs: number; threadMs: number; childMs: number }) => {
    burn(ownMs);
    if (threadMs > 0) {
      const source = `const began = process.threadCpuUsage(); for (;;) { const { user, system } = process.threadCpuUsage(began); if (user + system >= ${threadMs * 1000}) break; }`;
      await once(new Worker(source, { eval: true }), 'exit');
    }
    if (childMs > 0) {
      const child = fork(import.meta.filename);
      child.send({ ownMs: childMs, threadMs: 0, childMs: 0 });
      await once(child, 'message');
      child.disconnect();
      await once(child, 'exit');
    }
    process.send?.('done');
  },
);
process.on('disconnect', () => process.exit());

function burn(ms: number): void {
  const began = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(began);
    if (user + system >= ms * 1000) return;
  }
}
