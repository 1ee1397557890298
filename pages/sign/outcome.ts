/** What became of a request that was signed on this device: it waits, it was sent, or it was refused. */
import { removeSaved, type SavedRequest } from './saved.ts';
import { sendWaiting } from './sending.ts';
import { actButton, make, show, timeText } from './view.ts';

export function showSigned(
  assetName: string,
  { role, signedAt, workerName }: NonNullable<SavedRequest['signoff']>,
): void {
  show(
    'Signed',
    make('p', { class: 'done', 'aria-hidden': 'true' }, '✓'),
    make('p', {}, make('b', {}, workerName), ` has signed as ${role}, on ${assetName}.`),
    make('p', { class: 'soft' }, `${timeText(signedAt)}. You can close this page.`),
  );
}

/** `again`: asks the service anew whether it can be signed. */
export function showOutcome(saved: SavedRequest, again: () => Promise<void>): void {
  const { request, token, state, signoff, refusal } = saved;
  if (state === 'sent' && signoff !== null) {
    showSigned(request.assetName, signoff);
    return;
  }
  if (state === 'waiting') {
    showWaiting(saved);
    return;
  }
  show(
    'Not accepted',
    make(
      'p',
      {},
      `The service did not accept your signature as ${request.message.role}, on ${request.assetName}:`,
    ),
    make('p', { class: 'trouble', role: 'alert' }, refusal ?? ''),
    make('p', { class: 'soft' }, request.entry.summary),
    actButton('Open again', async () => {
      await removeSaved(token);
      await again();
    }),
  );
}

function showWaiting({ request, captured }: SavedRequest): void {
  const inBackground = 'SyncManager' in window;
  show(
    'Signed on this device',
    make(
      'p',
      { class: 'note', role: 'status' },
      make('b', {}, 'Waiting to be sent.'),
      inBackground
        ? ' It is sent by itself when there is a network.'
        : ' It is sent by itself when there is a network and this page is open.',
    ),
    make(
      'p',
      {},
      make('b', {}, request.workerName),
      ` has signed as ${request.message.role}, on ${request.assetName}. It counts once the service has accepted it.`,
    ),
    make('p', { class: 'summary' }, request.entry.summary),
    make(
      'p',
      { class: 'soft' },
      `Signed ${captured === null ? '' : timeText(captured.signedAt)} by the clock of this device. It must arrive before ${timeText(request.expiresAt)}.`,
    ),
    actButton('Send now', async () => {
      if ((await sendWaiting()) > 0) throw new Error('There is still no connection to the service.');
    }),
  );
}
