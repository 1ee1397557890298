/** Keeps the page itself for use without network, and sends what waits: when it opens, when a network comes, and again later. */
import { removeEnded } from './saved.ts';
import { sendWaiting, syncTag } from './sending.ts';

/** Doubled after each try. */
const waitMs = { first: 5_000, most: 5 * 60_000 };

interface Syncing {
  sync?: { register(tag: string): Promise<void> };
}

let nextWaitMs = waitMs.first;
let timer: ReturnType<typeof setTimeout> | undefined;

export function startInBackground(): void {
  navigator.serviceWorker?.register('/sign/worker.js', { scope: '/sign/' }).catch(() => undefined);
  window.addEventListener('online', () => void sendSoon());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void sendSoon();
  });
  void removeEnded().then(sendSoon);
}

/** Tries now, and again until nothing waits; where the browser can, also when this page is closed. */
export async function sendSoon(): Promise<void> {
  nextWaitMs = waitMs.first;
  await trySending();
}

async function trySending(): Promise<void> {
  clearTimeout(timer);
  if ((await sendWaiting().catch(() => 1)) === 0) return;
  clearTimeout(timer);
  timer = setTimeout(() => void trySending(), nextWaitMs);
  nextWaitMs = Math.min(2 * nextWaitMs, waitMs.most);
  const registration = (await navigator.serviceWorker?.getRegistration('/sign/')) as Syncing | undefined;
  await registration?.sync?.register(syncTag).catch(() => undefined);
}
