/**
 * The service worker of the page: opens it without network, and sends signatures that wait when the browser says that there is
 * one. It keeps only the page itself, never an answer of the API. Each version of the page has a cache of its own.
 */
import { sendWaiting, syncTag } from './sending.ts';

/** Put in when the page is bundled: `version` is that of what follows. */
declare const pageFiles: { version: string; page: string; assets: string[] };

interface WaitingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface WorkerEvents {
  install: WaitingEvent;
  activate: WaitingEvent;
  fetch: Event & { request: Request; respondWith(response: Promise<Response>): void };
  sync: WaitingEvent & { tag: string };
}

interface Worker {
  addEventListener<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
}

const worker = globalThis as unknown as Worker;
const cacheStart = 'holdfast-sign-';
const cacheName = `${cacheStart}${pageFiles.version}`;
/** Then what is kept opens; a network that hangs is none. */
const pageTimeoutMs = 4_000;

worker.addEventListener('install', (event) => event.waitUntil(keepPage().then(() => worker.skipWaiting())));
// A page that is open has loaded all of its version.
worker.addEventListener('activate', (event) =>
  event.waitUntil(removeOldPages().then(() => worker.clients.claim())),
);

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(openPage(request));
  else if (pageFiles.assets.includes(pathname)) event.respondWith(findAsset(request));
});

worker.addEventListener('sync', (event) => {
  if (event.tag === syncTag) event.waitUntil(sendAll());
});

/** All or nothing. While a new version is installed, nodes may answer with the page of another one: then it is tried again. */
async function keepPage(): Promise<void> {
  const { page, assets } = pageFiles;
  const responses = await Promise.all(
    [page, ...assets].map(async (url) => {
      const response = await fetch(url, { cache: 'reload', credentials: 'omit' });
      if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
      return [url, response] as const;
    }),
  );
  const [[, html] = [page, new Response()]] = responses;
  const text = await html.clone().text();
  if (!assets.every((asset) => text.includes(asset))) throw new Error('The page is of another version');
  const cache = await caches.open(cacheName);
  await Promise.all(responses.map(([url, response]) => cache.put(url, response)));
}

async function removeOldPages(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(cacheStart) && name !== cacheName);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** From the service if it can be reached, so that an update shows at once. The same page is at every link. */
async function openPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(pageTimeoutMs) });
    if (response.status < 500) return response;
  } catch {
    // No network.
  }
  return (await caches.match(pageFiles.page, { cacheName })) ?? Response.error();
}

/** A name stands for one content. */
async function findAsset(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName })) ?? fetch(request);
}

/** Fails if something is left, so that the browser tries again. */
async function sendAll(): Promise<void> {
  if ((await sendWaiting()) > 0) throw new Error('Signatures still wait to be sent');
}
