/** The page at /sign/{token}: what it shows depends on the link. */
import { followColours } from '../verify/colours.ts';
import { openRegistration } from './approval.ts';
import { startInBackground } from './background.ts';
import { openInvitation } from './invitation.ts';
import { addressWithName, hasPasskeys, isBareAddress } from './passkey.ts';
import { onSavedChange, readAllSaved } from './saved.ts';
import { showSavedList, showWayToList } from './saved-list.ts';
import { openRequest, refreshRequest } from './signing.ts';
import { make, showTrouble } from './view.ts';

/** Why nothing can be done here, with the title that says so; null if it can. */
function obstacle(token: string): [title: string, message: string] | null {
  if (token === '') {
    return ['Scan the code again', 'The link is not complete. Open it from the QR code or from the message.'];
  }
  if (isBareAddress()) {
    return [
      'Passkeys do not work at this address',
      'They need a host name and https. Ask for a link that begins with the name of the service.',
    ];
  }
  if (hasPasskeys()) return null;
  return [
    'No passkeys here',
    window.isSecureContext
      ? 'This browser does not know passkeys. Open the link in the usual browser of this device.'
      : 'Passkeys need https. Ask for a link that begins with https.',
  ];
}

async function begin(): Promise<void> {
  const [, token = ''] = /^\/sign\/([\w-]+)\/?$/.exec(window.location.pathname) ?? [];
  const named = addressWithName();
  if (named !== null) {
    showTrouble(
      'One step more',
      'Passkeys need a host name, and this page was opened by its address. On this computer it is also called localhost.',
      make('div', { class: 'act' }, make('a', { class: 'big', href: named }, 'Go on at localhost')),
    );
    return;
  }
  const isList = token === '' && (await readAllSaved()).length > 0;
  const found = isList ? null : obstacle(token);
  onSavedChange(() => {
    if (isList) {
      void showSavedList();
      return;
    }
    void showWayToList(token);
    void refreshRequest(token);
  });
  if (isList) await showSavedList();
  else if (found !== null) showTrouble(...found);
  else if (token.startsWith('sig_')) void openRequest(token);
  else if (token.startsWith('reg_')) void openRegistration(token);
  else void openInvitation(token);
  if (!isList) void showWayToList(token);
  if (window.isSecureContext) startInBackground();
}

followColours();
void begin();
