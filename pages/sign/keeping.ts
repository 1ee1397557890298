/** Keeps an open request on this device, with its attachments, so that it can be looked at and signed without network. */
import { callFor } from './call.ts';
import { changeSaved, type OpenRequest, readSaved, type SavedFile, writeSaved } from './saved.ts';

/** What is kept of the attachments of one request. */
const mostBytes = { file: 10_000_000, together: 25_000_000 };
const fileTimeoutMs = 120_000;

export interface Kept {
  /** Attachments that are not on this device, because they are too large or were not reached. */
  missing: number;
}

/** Null where the browser keeps nothing, or cannot open this page without network. */
export async function keepRequest(
  token: string,
  { request, aheadMs }: { request: OpenRequest; aheadMs: number },
): Promise<Kept | null> {
  try {
    const before = await readSaved(token);
    const files = before?.files ?? [];
    const unsigned = { state: 'open', captured: null, signoff: null, refusal: null } as const;
    await writeSaved({ token, request, aheadMs, savedAt: before?.savedAt ?? Date.now(), files, ...unsigned });
    const isPageKept = await pageIsKept();
    if (!isPageKept) return null;
    void navigator.storage?.persist?.().catch(() => false);
  } catch {
    return null;
  }
  return { missing: await keepFiles(token, request) };
}

/** Returns how many are missing. */
async function keepFiles(token: string, { entry }: OpenRequest): Promise<number> {
  const saved = await readSaved(token);
  const kept: SavedFile[] = [...(saved?.files ?? [])];
  for (const { fileId } of entry.files) {
    if (kept.some((file) => file.fileId === fileId)) continue;
    const left = mostBytes.together - kept.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    const file = await fetchFile(token, fileId, Math.min(mostBytes.file, left)).catch(() => null);
    if (file === null) continue;
    const isSaved = await changeSaved(token, ['open'], { files: [...kept, file] }).catch(() => null);
    if (isSaved === null) break;
    kept.push(file);
  }
  return entry.files.filter(({ fileId }) => !kept.some((file) => file.fileId === fileId)).length;
}

/** Null if it is larger than that. */
export async function fetchFile(
  token: string,
  fileId: string,
  most = Number.POSITIVE_INFINITY,
): Promise<SavedFile | null> {
  const response = await callFor('damc/sign-requests/file', { token, fileId }, fileTimeoutMs);
  if (Number(response.headers.get('content-length')) > most) {
    await response.body?.cancel();
    return null;
  }
  const bytes = await response.arrayBuffer();
  const type = response.headers.get('content-type') ?? '';
  return bytes.byteLength > most ? null : { fileId, type, bytes };
}

/** Whether the service worker will open this page without network. */
async function pageIsKept(): Promise<boolean> {
  if (!('serviceWorker' in navigator)) return false;
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), 15_000));
  return (await Promise.race([navigator.serviceWorker.ready, late])) !== null;
}
