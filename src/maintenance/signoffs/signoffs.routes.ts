/**
 * Creates sign-offs: POST /damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/, and the typed data for workers who
 * sign elsewhere.
 */
import { Type } from 'typebox';
import { notAnchoredYet } from '../../anchoring/anchored.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import {
  address,
  dateTime,
  like,
  named,
  orNull,
  plainText,
  sample,
  text,
  unshown,
} from '../../runtime/schemas.ts';
import {
  role,
  SignoffSchema,
  signature,
  signoffToJson,
  signoffsUrl as url,
} from '../entries/entry-signoffs.routes.ts';
import { sampleLicence } from '../signing/sample-work.ts';
import { makeSignoffTypedData, signoffDomain, signoffTypes } from '../signing/signoff.ts';
import type { Signoffs } from './signoffs.ts';

const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
];

const Members = Type.Array(Type.Object({ name: Type.String(), type: Type.String() }));
const inADay = '2026-03-03T09:00:05.000Z';
const TypedDataSchema = named(
  { title: 'SignoffRequest', description: 'EIP-712 data that a worker signs with their own key' },
  Type.Object({
    domain: Type.Object({ name: Type.String(), version: Type.String() }, { examples: [signoffDomain] }),
    types: Type.Object(
      { EIP712Domain: Members, Signoff: Members },
      { examples: [{ EIP712Domain: domainType, Signoff: signoffTypes.Signoff }] },
    ),
    primaryType: text('Signoff'),
    message: Type.Object({
      workspaceId: text(sample.workspaceId),
      assetId: text(sample.assetId),
      maintenanceId: text(sample.maintenanceId),
      maintenanceHash: text(sample.maintenanceHash),
      role,
      worker: text(sample.workerAddress),
      licenceScope: text(sampleLicence.scope, { description: 'Empty if no licence is used' }),
      licenceNumber: text(sampleLicence.number),
      signedAt: Type.Integer({
        description: 'Seconds since 1970',
        examples: [Date.parse(sample.signedAt) / 1000],
      }),
    }),
    signedAt: text(sample.signedAt, { ...dateTime, description: 'Send this with the signature' }),
    expiresAt: text(inADay, { ...dateTime, description: 'The signature is accepted until then' }),
    passkey: orNull(
      Type.Object(
        {
          challenge: Type.String(),
          rpId: Type.String(),
          allowCredentials: Type.Array(Type.Object({ type: Type.String(), id: Type.String() }), {
            maxItems: 20,
          }),
          userVerification: Type.String(),
        },
        {
          description:
            'For a worker who signs with a passkey: PublicKeyCredentialRequestOptionsJSON of WebAuthn, with the EIP-712 digest as challenge',
          examples: [null],
        },
      ),
    ),
  }),
);

/** As a whole, the longest assertion fits into what a route without a key reads. An id has at most 1023 bytes. */
const base64url = (maxLength: number, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$', examples: [example] });
export const Assertion = Type.Object(
  {
    credentialId: base64url(1_364, 'AQIDBA'),
    authenticatorData: base64url(500, 'OoRcgW8TVbnjHmfL5I--0jc3g78UuU-nPW5-ZH3XcqAFAAAABw'),
    clientDataJSON: base64url(
      1_000,
      'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiVkdobElHUnBaMlZ6ZENCdlppQjNhR0YwSUdseklITnBaMjVsWkM0Z016SSIsIm9yaWdpbiI6Imh0dHBzOi8vaG9sZGZhc3QuZXhhbXBsZS5jb20ifQ',
    ),
    signature: base64url(
      700,
      'MEQCIEVDSeQi8FKXGR6tE-IdPbUg5avvUgVeSWS4L7IT9ZOhAiAFOnGHdMVyvYolrb6xv81cAlauEc7Pn5w_kl0OUr6viQ',
    ),
  },
  {
    additionalProperties: false,
    description: 'What the passkey returned, each in base64url without padding',
  },
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
      const { fields, expiresAt, passkey } = await signoffs.prepare(callerOf(request), input);
      const { domain, types, primaryType } = makeSignoffTypedData(fields);
      return {
        domain,
        // Wallets that take JSON also need the type of the domain; the documentation covers libraries that do not.
        types: { EIP712Domain: domainType, Signoff: [...types.Signoff] },
        primaryType,
        message: fields,
        signedAt: new Date(fields.signedAt * 1000).toISOString(),
        expiresAt: expiresAt.toISOString(),
        passkey,
      };
    },
  );
}
