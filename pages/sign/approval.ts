/** The registration of another passkey: the worker signs, with the one on this device, that it is theirs as well. */
import { type RegistrationMessage, registrationTypes } from '../../src/proof/signoff/passkey-document.ts';
import { typedDataDigest } from '../../src/proof/signoff/typed-data.ts';
import { CallError, call, type Schemas } from './call.ts';
import { signWithPasskey } from './passkey.ts';
import { actButton, make, show, showTrouble, timeText } from './view.ts';

type Opened = Schemas['OpenPasskeyRegistration'];

export async function openRegistration(token: string): Promise<void> {
  let opened: Opened;
  try {
    opened = await call<Opened>('damc/passkeys/open', { token });
  } catch (error) {
    const isAnswer = error instanceof CallError && error.status >= 400 && error.status < 500;
    showTrouble(isAnswer ? 'This link does not work' : 'Not reached', (error as Error).message);
    return;
  }
  const { workerName, workspaceName, confirmedBy, code, message } = opened;
  show(
    'Is this passkey yours?',
    make(
      'p',
      {},
      'A passkey was made on another device for ',
      make('b', {}, workerName),
      `, in ${workspaceName}: ${timeText(message.registeredAt)}. ${confirmedBy} has confirmed that it was you.`,
    ),
    make('p', {}, 'The other device shows this code:'),
    make('p', { class: 'card code' }, code),
    make(
      'p',
      { class: 'soft' },
      'If it shows another code, or you made none, close this page and tell an admin. Once you have signed, whoever has the other device signs as you.',
    ),
    actButton('Sign that it is mine', async () => {
      const digest = typedDataDigest({
        types: registrationTypes,
        primaryType: 'PasskeyRegistration',
        message: message as unknown as RegistrationMessage,
      });
      const assertion = await signWithPasskey({ ...opened.passkey, challenge: digest });
      await call('damc/passkeys/sign', { token, assertion });
      show(
        'Signed',
        make('p', { class: 'done', 'aria-hidden': 'true' }, '✓'),
        make('p', {}, 'From now on you sign with either of your passkeys.'),
      );
    }),
  );
}
