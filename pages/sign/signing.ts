/** A request to sign: shows what is signed in plain words, and signs it with a passkey of this device, also without network. */
import { type SignoffMessage, signoffDigest } from '../../src/proof/signoff/signoff-message.ts';
import { fileList } from './attachments.ts';
import { sendSoon } from './background.ts';
import { call } from './call.ts';
import { keepRequest } from './keeping.ts';
import { showOutcome, showSigned } from './outcome.ts';
import { signWithPasskey } from './passkey.ts';
import {
  type Captured,
  changeSaved,
  type OpenRequest,
  readSaved,
  removeSaved,
  type SavedRequest,
} from './saved.ts';
import { isPassing, sendSignature } from './sending.ts';
import { actButton, make, show, showTrouble, timeText } from './view.ts';

type Asked = Pick<SavedRequest, 'token' | 'request' | 'aheadMs'>;

/** With a copy on this device, a slow network is not waited for. */
const timeoutMs = { saved: 8_000, alone: 20_000 };
/** How long the page stays as it is while a signature is sent. */
const sendingMs = 3_000;

/** What is shown of it, if it was signed: another page or the service worker may send it. */
let shown: SavedRequest['state'] | null = null;

export async function openRequest(token: string): Promise<void> {
  const saved = await readSaved(token);
  if (saved && saved.state !== 'open') {
    showState(saved);
    return;
  }
  const askedAt = Date.now();
  let request: OpenRequest;
  try {
    const timeout = saved ? timeoutMs.saved : timeoutMs.alone;
    request = await call<OpenRequest>('damc/sign-requests/open', { token }, timeout);
  } catch (error) {
    await showUnopened(token, saved, error as Error);
    return;
  }
  // The clock of a phone may be wrong.
  const aheadMs = Date.parse(request.now) - (askedAt + Date.now()) / 2;
  const keeping = make('p', { class: 'soft', role: 'status' });
  showRequest({ token, request, aheadMs }, { below: keeping });
  const kept = await keepRequest(token, { request, aheadMs });
  if (kept === null) return;
  const without =
    kept.missing === 0
      ? ''
      : `, without ${kept.missing} attachment${kept.missing === 1 ? '' : 's'} that ${kept.missing === 1 ? 'is' : 'are'} too large or could not be loaded`;
  keeping.replaceChildren(
    `Saved on this device${without}: can be signed without network until ${timeText(request.expiresAt)}.`,
  );
}

/** After a change of what is saved. */
export async function refreshRequest(token: string): Promise<void> {
  if (shown !== 'waiting') return;
  const saved = await readSaved(token);
  if (saved && saved.state !== 'waiting') showState(saved);
}

/** Without an answer, or with a refusal. */
async function showUnopened(token: string, saved: SavedRequest | null, error: Error): Promise<void> {
  if (!isPassing(error)) {
    if (saved) await removeSaved(token);
    showTrouble('This link does not work', error.message);
  } else if (saved === null) {
    showTrouble('Not reached', error.message);
  } else if (isEnded(saved)) {
    showTrouble('This link does not work', ended);
  } else {
    const since = timeText(new Date(saved.savedAt).toISOString());
    const note = make(
      'p',
      { class: 'note', role: 'status' },
      make('b', {}, 'No network.'),
      ` This was saved on this device, ${since}. Sign now: it is sent when there is a network. It must arrive before ${timeText(saved.request.expiresAt)}.`,
    );
    showRequest(saved, { above: note });
  }
}

function showRequest(
  asked: Asked,
  { above = null, below = null }: { above?: HTMLElement | null; below?: HTMLElement | null },
): void {
  const { token, request } = asked;
  const { workerName, assetName, entry, message } = request;
  shown = null;
  show(
    roleTitles[message.role],
    above,
    make('p', { class: 'soft' }, `${entry.type} · `, make('b', {}, assetName)),
    make('section', { class: 'card' }, make('p', { class: 'summary' }, entry.summary), facts(request)),
    entry.files.length === 0 ? null : fileList(token, entry.files),
    make(
      'section',
      { class: 'statement', 'aria-label': 'What you sign' },
      make('p', {}, `“${request.statement}”`),
      make('p', { class: 'soft' }, `Signed as ${workerName}.`),
    ),
    below,
    actButton('Sign', () => sign(asked)),
  );
}

async function sign({ token, request, aheadMs }: Asked): Promise<void> {
  if (isEnded({ request, aheadMs })) throw new Error(ended);
  // Not before it was opened: the clock of this device may have been set back since.
  const seconds = Math.floor(Math.max(Date.now() + aheadMs, Date.parse(request.now)) / 1000);
  const signedAt = new Date(seconds * 1000).toISOString();
  const challenge = signoffDigest({ ...request.message, signedAt } as SignoffMessage);
  const assertion = await signWithPasskey({ ...request.passkey, challenge });
  const captured = { signedAt, assertion };
  const kept = await changeSaved(token, ['open'], { state: 'waiting', captured }).catch(() => null);
  if (kept === null) {
    await signAtOnce(token, captured, request);
    return;
  }
  await Promise.race([sendSoon(), new Promise((resolve) => setTimeout(resolve, sendingMs))]);
  showState((await readSaved(token)) ?? kept);
}

/** Where nothing can be kept on this device, or another page has changed what is kept. */
async function signAtOnce(token: string, captured: Captured, request: OpenRequest): Promise<void> {
  const signoff = await sendSignature(token, captured);
  showSigned(request.assetName, signoff);
}

function showState(saved: SavedRequest): void {
  shown = saved.state;
  showOutcome(saved, () => openRequest(saved.token));
}

const ended = 'This link has expired. Ask for a new one.';

function isEnded({ request, aheadMs }: Pick<Asked, 'request' | 'aheadMs'>): boolean {
  return Date.parse(request.expiresAt) <= Date.now() + aheadMs;
}

function facts({ entry, message, requestedBy, workspaceName }: OpenRequest): HTMLElement {
  const signed = entry.signoffs.map(
    ({ role, workerName, signedAt }) => `${role} by ${workerName}, ${timeText(signedAt)}`,
  );
  const rows: [string, string][] = [
    ['Done', `${timeText(entry.performedAt)} by ${entry.workerName}`],
    ...signed.map((text): [string, string] => ['Signed', text]),
    ...message.licence.map(({ number, scope }): [string, string] => [
      'Your licence',
      `${number} for ${scope}`,
    ]),
    ...message.release.flatMap(releaseFacts),
    ['Asked by', `${requestedBy === null ? '' : `${requestedBy}, `}${workspaceName}`],
  ];
  return make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)]));
}

/** In whose name the work is released, and what it was done on: the signature says both. */
function releaseFacts({
  organisation,
  asset,
}: OpenRequest['message']['release'][number]): [string, string][] {
  const { partNumber, serialNumber } = asset;
  const named = organisation.map(({ name, approvalNumber }) =>
    [name, approvalNumber].filter(Boolean).join(', '),
  );
  return (
    [
      ['In the name of', named.join()],
      ['Part', partNumber],
      ['Serial number', serialNumber],
    ] as [string, string][]
  ).filter(([, text]) => text !== '');
}

const roleTitles: Record<OpenRequest['message']['role'], string> = {
  performed: 'Sign that you did this work',
  inspected: 'Sign that you inspected this work',
  certified: 'Sign that you certify this work',
};
