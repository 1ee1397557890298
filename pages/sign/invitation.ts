/** An invitation: the worker registers a passkey, and then tells a second person the code. */
import { CallError, call, type Schemas } from './call.ts';
import { makePasskey } from './passkey.ts';
import { actButton, make, show, showTrouble } from './view.ts';

type Offer = Schemas['WorkerPasskeyOptions'];

interface Registered {
  code: string;
  workspaceName: string;
}

export async function openInvitation(token: string): Promise<void> {
  const made = remembered(token);
  if (made !== null) {
    showCode(made);
    return;
  }
  let offer: Offer;
  try {
    offer = await call<Offer>('damc/passkeys/options', { token });
  } catch (error) {
    const title =
      error instanceof CallError && error.status < 500 ? 'This link does not work' : 'Not reached';
    showTrouble(title, (error as Error).message);
    return;
  }
  const { workerName, workspaceName, invitedBy } = offer;
  const workspace = make('b', {}, workspaceName);
  show(
    'Register your passkey',
    make(
      'p',
      {},
      `${invitedBy} invites `,
      make('b', {}, workerName),
      ' to sign maintenance work in ',
      workspace,
      '.',
    ),
    make(
      'p',
      {},
      'This device makes a passkey for you and asks for your fingerprint, face or PIN. With it you sign; nobody else can, and not the service either.',
    ),
    make('p', { class: 'soft' }, `Not ${workerName}? Then close this page.`),
    actButton('Register passkey', async () => {
      // A try that failed has not used the link, so what was offered still holds.
      const response = await makePasskey(offer.options as unknown as PublicKeyCredentialCreationOptionsJSON);
      const { code } = await call<Schemas['RegisteredPasskey']>('damc/passkeys/register', {
        token,
        response,
      });
      const registered = { code, workspaceName };
      remember(token, registered);
      showCode(registered);
    }),
  );
}

function showCode({ code, workspaceName }: Registered): void {
  show(
    'Now a second person confirms',
    make('p', {}, `Tell this code to an admin of ${workspaceName}, in person or by phone:`),
    make('p', { class: 'card code' }, code),
    make(
      'p',
      { class: 'soft' },
      'It must be somebody else than the person who invited you. They open your page under Workers and enter the code. From then on you sign with this device; if you had a passkey or a key of your own before, you sign with that one first that this one is yours.',
    ),
  );
}

/** The service shows the code once, and phones reload pages that were out of sight. */
function remember(token: string, registered: Registered): void {
  try {
    localStorage.setItem(keyOf(token), JSON.stringify(registered));
  } catch {
    // Storage is unavailable: the code stays as long as the page does.
  }
}

function remembered(token: string): Registered | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(token)) ?? 'null');
  } catch {
    return null;
  }
}

const keyOf = (token: string) => `holdfast.registered.${token}`;
