/** A passkey of somebody who signs in to the dashboard: registered, and used to sign in or to confirm. */
import type { Answer } from '../service/service.ts';
import type { Reached, Visitor } from './browser-session.ts';
import { type SavedPasskey, type SoftPasskey, softPasskey } from './soft-passkey.ts';

const passkeys = '/api-v1/platform/passkeys';

/** `passkey`: only once the first answer is a success. */
export async function registerPasskey(
  service: Reached,
  visitor: Visitor,
): Promise<{ answer: Answer; passkey: SoftPasskey }> {
  const passkey = softPasskey({ origin: originOf(service) });
  const asked = await visitor.call('POST', `${passkeys}/options`);
  if (asked.status !== 200) return { answer: asked, passkey };
  const body = { name: 'Phone', response: passkey.register(asked.json) };
  return { answer: await visitor.call('POST', passkeys, { body }), passkey };
}

/** Signs in, or confirms if the visitor is signed in, as the pages do it. */
export async function usePasskey(
  service: Reached,
  visitor: Visitor,
  passkey: SoftPasskey | SavedPasskey,
): Promise<Answer> {
  const soft = 'sign' in passkey ? passkey : softPasskey({ origin: originOf(service), saved: passkey });
  const { json: options } = await visitor.call('POST', '/auth/passkey/options');
  const { credentialId: id, ...answer } = soft.sign(options);
  const response = { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: answer };
  return visitor.call('POST', '/auth/passkey/verify', { body: { response } });
}

/** Browsers make no passkeys for an address. */
function originOf({ url }: Reached): string {
  return url.replace('127.0.0.1', 'localhost');
}
