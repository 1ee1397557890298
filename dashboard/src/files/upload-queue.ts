/** The upload queue: a few files at a time, each with its progress, its error, and a retry that creates nothing twice. */
import type { FileVersion } from './file.ts';
import type { Progress } from './file-hash.ts';

export interface Upload {
  id: string;
  file: File;
  /** Its future name. */
  name: string;
  state: 'waiting' | 'hashing' | 'sending' | 'done' | 'failed' | 'cancelled';
  /** Progress of this state, from 0 to 1. */
  progress: number;
  error: Error | null;
  made: FileVersion | null;
  /** The last request and its Idempotency-Key. */
  sent: { what: string; key: string } | null;
}

/** Target and options: the same for all files that are sent together. */
export interface UploadSettings {
  path: string;
  hashOnly: boolean;
  /** In addition to name and content. */
  fields: Record<string, string>;
}

export interface UploadStep extends Progress {
  settings: UploadSettings;
  idempotencyKey: string;
  enter(state: 'hashing' | 'sending'): void;
}

export type SendUpload = (upload: Upload, step: UploadStep) => Promise<FileVersion>;

export interface UploadQueue {
  list(): readonly Upload[];
  subscribe(changed: () => void): () => void;
  add(files: File[], name?: string): void;
  rename(id: string, name: string): void;
  /** Removes an upload that is not in progress. */
  remove(id: string): void;
  /** Sends the waiting uploads, or the named ones; resolves when nothing is in progress any more. */
  start(settings: UploadSettings, ids?: string[]): Promise<void>;
  cancel(id: string): void;
  cancelAll(): void;
}

/** A browser opens six connections to a service; the others are for the page itself. */
const atOnce = 4;
/** Progress is rendered at most this often. */
const showMs = 100;

export function createUploadQueue(send: SendUpload): UploadQueue {
  let uploads: readonly Upload[] = [];
  const listeners = new Set<() => void>();
  const underWay = new Map<string, AbortController>();
  let showing: ReturnType<typeof setTimeout> | null = null;

  /** Renders at once, because it is a user's action. */
  function put(next: readonly Upload[]): void {
    uploads = next;
    show();
  }

  function show(): void {
    if (showing !== null) clearTimeout(showing);
    showing = null;
    for (const changed of listeners) changed();
  }

  function withChange(id: string, values: Partial<Upload>): readonly Upload[] {
    return uploads.map((upload) => (upload.id === id ? { ...upload, ...values } : upload));
  }

  /** Changes in progress are rendered together. */
  function change(id: string, values: Partial<Upload>): void {
    uploads = withChange(id, values);
    showing ??= setTimeout(show, showMs);
  }

  async function run(upload: Upload, settings: UploadSettings): Promise<void> {
    const { id } = upload;
    const ending = new AbortController();
    underWay.set(id, ending);
    // A retry of the same upload repeats the request; with any change it is a new request.
    const what = JSON.stringify([settings, upload.name]);
    const sent = upload.sent?.what === what ? upload.sent : { what, key: crypto.randomUUID() };
    change(id, { sent, error: null, progress: 0, state: settings.hashOnly ? 'hashing' : 'sending' });
    try {
      const made = await send(upload, {
        settings,
        idempotencyKey: sent.key,
        signal: ending.signal,
        tell: (progress) => change(id, { progress }),
        enter: (state) => change(id, { state, progress: 0 }),
      });
      change(id, { state: 'done', progress: 1, made });
    } catch (error) {
      if (ending.signal.aborted) change(id, { state: 'cancelled' });
      else change(id, { state: 'failed', error: error as Error });
    } finally {
      underWay.delete(id);
    }
  }

  async function sendWaiting(settings: UploadSettings): Promise<void> {
    for (;;) {
      const next = uploads.find(({ state }) => state === 'waiting');
      if (!next) return;
      await run(next, settings);
    }
  }

  return {
    list: () => uploads,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    add(files, name) {
      const added = files.map((file): Upload => {
        const unsent = { state: 'waiting', progress: 0, error: null, made: null, sent: null } as const;
        return { id: crypto.randomUUID(), file, name: name ?? file.name, ...unsent };
      });
      put([...uploads, ...added]);
    },
    rename: (id, name) => put(withChange(id, { name })),
    remove(id) {
      if (!underWay.has(id)) put(uploads.filter((upload) => upload.id !== id));
    },
    async start(settings, ids) {
      if (ids) {
        const wanted = new Set(ids);
        put(uploads.map((upload) => (wanted.has(upload.id) ? { ...upload, state: 'waiting' } : upload)));
      }
      // The running workers send these, too.
      if (underWay.size > 0) return;
      const running = Array.from({ length: atOnce }, () => sendWaiting(settings));
      // Shows at once that they are in progress.
      show();
      await Promise.all(running);
      show();
    },
    cancel(id) {
      const ending = underWay.get(id);
      if (ending) ending.abort();
      else put(withChange(id, { state: 'cancelled' }));
    },
    cancelAll() {
      put(uploads.map((upload) => (upload.state === 'waiting' ? { ...upload, state: 'cancelled' } : upload)));
      for (const ending of underWay.values()) ending.abort();
    },
  };
}
