/** A passkey of a worker in the API, and where it is. */
import { Type } from 'typebox';
import { address, dateTime, like, named, sample, text } from '../../runtime/schemas.ts';
import { sampleCreatedAt } from '../signing/sample-work.ts';
import type { Passkey } from './passkeys.store.ts';

export const samplePasskeyId = 'psk_01KJPV8JR0A12KSGG6EQ9ZTAJ3';
export const sampleCode = '3FA9-C01E';

export const workerPath = Type.Object({ address: like(address, sample.workerAddress) });
export const passkeyPath = Type.Object({
  address: like(address, sample.workerAddress),
  passkeyId: text(samplePasskeyId),
});

export const PasskeySchema = named(
  { title: 'WorkerPasskey', description: 'A passkey with which a worker signs' },
  Type.Object({
    id: text(samplePasskeyId),
    state: Type.String({
      enum: ['unconfirmed', 'unsigned', 'active', 'refused', 'revoked'],
      description:
        'Only an active one signs. `unsigned`: a second person has confirmed it, and the worker has not signed it yet',
      examples: ['active'],
    }),
    rpId: text('holdfast.example.com', { description: 'The host name that it is bound to' }),
    registrationNumber: Type.Union([Type.Integer({ examples: [1] }), Type.Null()], {
      description: 'The statement that registered it; null until it is active',
    }),
    createdAt: like(dateTime, sampleCreatedAt),
  }),
);

export function passkeyToJson({ id, state, rpId, registration, createdAt }: Passkey) {
  return {
    id,
    state,
    rpId,
    registrationNumber: registration?.number ?? null,
    createdAt: createdAt.toISOString(),
  };
}
