/**
 * Creates sign-offs: POST /damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/, and the typed data for workers who
 * sign elsewhere.
 */
import { Type } from 'typebox';
import { notAnchoredYet } from '../../anchoring/anchored.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { signoffTypes } from '../../proof/signoff/signoff-message.ts';
import { address, dateTime, like, named, plainText, sample, text, unshown } from '../../runtime/schemas.ts';
import {
  role,
  SignoffSchema,
  signature,
  signoffToJson,
  signoffsUrl as url,
} from '../entries/entry-signoffs.routes.ts';
import { Assertion, PasskeyOptions, typeMembers } from '../passkeys/assertion-schema.ts';
import { domainType, shownTypedData, signedDomain } from '../signing/typed-data.ts';
import { messageMembers } from './message-schema.ts';
import type { Signoffs } from './signoffs.ts';

const inADay = '2026-03-03T09:00:05.000Z';
const TypedDataSchema = named(
  { title: 'SignoffRequest', description: 'EIP-712 data that a worker signs with their own key' },
  Type.Object({
    domain: Type.Object({ name: Type.String(), version: Type.String() }, { examples: [signedDomain] }),
    types: Type.Object(
      {
        ...{ EIP712Domain: typeMembers, Signoff: typeMembers, Licence: typeMembers, SignedWith: typeMembers },
        ...{ Release: typeMembers, Organisation: typeMembers, Asset: typeMembers },
      },
      { examples: [{ EIP712Domain: domainType, ...signoffTypes }] },
    ),
    primaryType: text('Signoff'),
    message: Type.Object(messageMembers),
    signedAt: text(sample.signedAt, { ...dateTime, description: 'Send this with the signature' }),
    expiresAt: text(inADay, { ...dateTime, description: 'The signature is accepted until then' }),
    passkey: PasskeyOptions,
  }),
);

const tags = ['maintenances'];
export const entryPath = Type.Object({
  assetId: text(sample.assetId),
  maintenanceId: text(sample.maintenanceId),
});
export const requested = {
  workerAddress: like(address, sample.workerAddress),
  role,
  licenceScope: unshown(
    plainText({
      minLength: 1,
      maxLength: 200,
      description: 'Which licence to use, if several fit',
    }),
  ),
};

export interface SignoffRoutesDeps {
  signoffs: Signoffs;
  idempotency: Idempotency;
}

export function signoffRoutes(app: Api, { signoffs, idempotency }: SignoffRoutesDeps): void {
  app.post(
    url,
    {
      config: { scope: 'assets:write', tellsOfChain: true, idempotent: true, freshSession: 'own' },
      schema: {
        operationId: 'createSignoff',
        summary: 'Sign off a maintenance entry',
        description:
          'Roles are signed in the order performed, inspected (optional), certified. Work must be inspected and certified by someone other than the performer, with a licence that fits. A worker who holds their own key sends a signature over the typed data from `request/`. When the service holds the key, the worker signs in their own session, or the API key has the scope `signoffs:on-behalf`.',
        tags,
        params: entryPath,
        body: Type.Object(
          {
            ...requested,
            signature: unshown(signature),
            signedAt: unshown(
              Type.String({
                ...dateTime,
                description: 'As in the typed data; only together with a signature or an assertion',
              }),
            ),
            assertion: unshown(Assertion),
          },
          { additionalProperties: false },
        ),
        response: { 201: notAnchoredYet(SignoffSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(201));
      const { signedAt, ...body } = request.body;
      const input = {
        ...body,
        ...request.params,
        ...(signedAt !== undefined && { signedAt: new Date(signedAt) }),
      };
      await signoffs.create(callerOf(request), input, (signoff) => answer.remember(signoffToJson(signoff)));
      return answer.send();
    },
  );

  app.get(
    `${url}request/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'getSignoffRequest',
        summary: 'Get the typed data of a sign-off',
        description:
          'For a worker who holds their own key: EIP-712 data to sign outside the service and send back within 24 hours.',
        tags,
        params: entryPath,
        querystring: Type.Object(requested, { additionalProperties: false }),
        response: { 200: TypedDataSchema },
      },
    },
    async (request) => {
      const input = { ...request.params, ...request.query };
      const { typedData, expiresAt, passkey } = await signoffs.prepare(callerOf(request), input);
      // Wallets that take JSON also need the type of the domain; the documentation covers libraries that do not.
      const { domain, types, primaryType, message } = shownTypedData(typedData);
      return {
        ...{ domain, types, primaryType, message },
        signedAt: message.signedAt,
        expiresAt: expiresAt.toISOString(),
        passkey,
      };
    },
  );
}
