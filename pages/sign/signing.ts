/** A request to sign: shows what is signed in plain words, and signs it with a passkey of this device. */
import { signoffDigest } from '../../src/proof/signoff/signoff-digest.ts';
import type { SignoffFields } from '../../src/proof/signoff/signoff-document.ts';
import { fileList } from './attachments.ts';
import { CallError, call, type Schemas } from './call.ts';
import { signWithPasskey } from './passkey.ts';
import { actButton, make, show, showTrouble } from './view.ts';

type Open = Schemas['OpenSignRequest'];

export async function openRequest(token: string): Promise<void> {
  const askedAt = Date.now();
  let request: Open;
  try {
    request = await call<Open>('damc/sign-requests/open', { token });
  } catch (error) {
    const known = error instanceof CallError && error.status >= 400 && error.status < 500;
    showTrouble(known ? 'This link does not work' : 'Not reached', (error as Error).message);
    return;
  }
  // The clock of a phone may be wrong.
  const aheadMs = Date.parse(request.now) - (askedAt + Date.now()) / 2;
  const { workerName, assetName, entry, fields } = request;
  show(
    roleTitles[fields.role],
    make('p', { class: 'soft' }, `${entry.type} · `, make('b', {}, assetName)),
    make('section', { class: 'card' }, make('p', { class: 'summary' }, entry.summary), facts(request)),
    entry.files.length === 0 ? null : fileList(token, entry.files),
    make(
      'section',
      { class: 'statement', 'aria-label': 'What you sign' },
      make('p', {}, `“${request.statement}”`),
      make('p', { class: 'soft' }, `Signed as ${workerName}.`),
    ),
    actButton('Sign', async () => {
      const signedAt = Math.floor((Date.now() + aheadMs) / 1000);
      const challenge = signoffDigest({ ...fields, signedAt } as SignoffFields);
      const assertion = await signWithPasskey({ ...request.passkey, challenge });
      const signoff = await call<Schemas['Signoff']>('damc/sign-requests/sign', {
        token,
        signedAt: new Date(signedAt * 1000).toISOString(),
        assertion,
      });
      showSigned(request, signoff);
    }),
  );
}

function showSigned({ assetName }: Open, { role, signedAt, workerName }: Schemas['Signoff']): void {
  show(
    'Signed',
    make('p', { class: 'done', 'aria-hidden': 'true' }, '✓'),
    make('p', {}, make('b', {}, workerName), ` has signed as ${role}, on ${assetName}.`),
    make('p', { class: 'soft' }, `${timeText(signedAt)}. You can close this page.`),
  );
}

function facts({ entry, fields, requestedBy, workspaceName }: Open): HTMLElement {
  const signed = entry.signoffs.map(
    ({ role, workerName, signedAt }) => `${role} by ${workerName}, ${timeText(signedAt)}`,
  );
  const rows: [string, string][] = [
    ['Done', `${timeText(entry.performedAt)} by ${entry.workerName}`],
    ...signed.map((text): [string, string] => ['Signed', text]),
    ...(fields.licenceNumber === ''
      ? []
      : [['Your licence', `${fields.licenceNumber} for ${fields.licenceScope}`] as [string, string]]),
    ['Asked by', `${requestedBy === null ? '' : `${requestedBy}, `}${workspaceName}`],
  ];
  return make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)]));
}

const roleTitles: Record<Open['fields']['role'], string> = {
  performed: 'Sign that you did this work',
  inspected: 'Sign that you inspected this work',
  certified: 'Sign that you certify this work',
};

function timeText(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}
