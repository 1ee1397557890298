/**
 * Sends the signatures that wait on this device. A signature may be sent twice, by two pages or after a lost answer: the service
 * gives both the same answer. Used by the page and by its service worker.
 */
import { CallError, call, type Schemas } from './call.ts';
import { type Captured, changeSaved, readAllSaved, type SavedRequest } from './saved.ts';

/** The tag of the background synchronisation, where the browser has one. */
export const syncTag = 'send';

export async function sendSignature(token: string, captured: Captured): Promise<Schemas['Signoff']> {
  return call<Schemas['Signoff']>('damc/sign-requests/sign', { token, ...captured });
}

/** Whether a later try may succeed. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof CallError)) return false;
  const { status } = error;
  return status === 0 || status >= 500 || [408, 425, 429].includes(status);
}

/** In the order of signing, until there is no network. Returns how many still wait. */
export async function sendWaiting(): Promise<number> {
  if (!('locks' in navigator)) return sendEach();
  return navigator.locks.request('holdfast-sign-send', sendEach);
}

async function sendEach(): Promise<number> {
  const waiting = (await readAllSaved())
    .filter(({ state }) => state === 'waiting')
    .sort((one, next) => signedAtOf(one) - signedAtOf(next));
  for (const [place, saved] of waiting.entries()) {
    if (!(await sendOne(saved))) return waiting.length - place;
  }
  return 0;
}

/** False if it still waits. */
async function sendOne({ token, captured }: SavedRequest): Promise<boolean> {
  if (captured === null) return true;
  try {
    const { role, signedAt, workerName } = await sendSignature(token, captured);
    const sent = { signoff: { role, signedAt, workerName }, files: [], captured: null };
    await changeSaved(token, ['waiting'], { state: 'sent', ...sent });
    return true;
  } catch (error) {
    if (!(error instanceof CallError) || isPassing(error)) return false;
    const refused = { refusal: error.message, captured: null };
    await changeSaved(token, ['waiting'], { state: 'refused', ...refused });
    return true;
  }
}

function signedAtOf({ captured }: SavedRequest): number {
  return captured === null ? 0 : Date.parse(captured.signedAt);
}
