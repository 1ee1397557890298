/** /platform/webhooks/endpoints/{endpointId}/secret, /rotate-secret, /public-keys and /rotate-key-pair */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { dateTime, like, orNull, text } from '../../runtime/schemas.ts';
import { endpointPath, samplePublicKey, sampleSecret } from './endpoint-schemas.ts';
import type { EndpointRoutesDeps } from './endpoints.routes.ts';

const url = `${apiBase}/platform/webhooks/endpoints`;
const tags = ['webhooks'];
const sampleUntil = '2026-03-03T09:00:00.000Z';

export function endpointKeyRoutes(app: Api, { endpoints, idempotency }: EndpointRoutesDeps): void {
  app.get(
    `${url}/:endpointId/secret`,
    {
      config: { scope: 'webhooks:write', freshSession: true },
      schema: {
        operationId: 'getEndpointSecret',
        summary: 'Show the signing secret',
        tags,
        params: endpointPath,
        response: { 200: Type.Object({ secret: text(sampleSecret) }, { description: 'The signing secret' }) },
      },
    },
    async (request) => ({
      secret: await endpoints.secret(callerOf(request), request.params.endpointId),
    }),
  );

  app.post(
    `${url}/:endpointId/rotate-secret`,
    {
      config: { scope: 'webhooks:write', idempotent: 'own', freshSession: true },
      schema: {
        operationId: 'rotateEndpointSecret',
        summary: 'Rotate the signing secret',
        description:
          'The old secret keeps signing the Standard Webhooks header for 24 hours, even if the new one is rotated again; the sha256= header changes at once. With an Idempotency-Key, a repeat returns the same secret.',
        tags,
        params: endpointPath,
        response: {
          200: Type.Object(
            { secret: text(sampleSecret), previousSecretUntil: like(dateTime, '2026-03-03T09:00:00.000Z') },
            {
              description:
                'The new signing secret, and until when deliveries are also signed with the old one',
            },
          ),
        },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply, { secret: true });
      await endpoints.rotateSecret(
        callerOf(request),
        request.params.endpointId,
        ({ secret, previousSecretUntil }) =>
          answer.remember({ secret, previousSecretUntil: previousSecretUntil.toISOString() }),
      );
      return answer.send();
    },
  );

  app.get(
    `${url}/:endpointId/public-keys`,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listEndpointPublicKeys',
        summary: 'List the public keys of an endpoint',
        description:
          'A delivery is genuine if one of them verifies a v1a signature of it. The current key is the first; a replaced one signs for 24 more hours. Empty when the endpoint signs with no key pair.',
        tags,
        params: endpointPath,
        response: {
          200: Type.Object(
            {
              publicKeys: Type.Array(
                Type.Object({
                  publicKey: text(samplePublicKey, {
                    description: 'whpk_ and the base64 of the 32 bytes of the key',
                  }),
                  until: orNull(like(dateTime, sampleUntil)),
                }),
              ),
            },
            { description: 'The keys that sign now' },
          ),
        },
      },
    },
    async (request) => {
      const keys = await endpoints.publicKeys(callerOf(request).workspaceId, request.params.endpointId);
      return {
        publicKeys: keys.map(({ publicKey, until }) => ({
          publicKey,
          until: until?.toISOString() ?? null,
        })),
      };
    },
  );

  app.post(
    `${url}/:endpointId/rotate-key-pair`,
    {
      config: { scope: 'webhooks:write', idempotent: 'own', freshSession: true },
      schema: {
        operationId: 'rotateEndpointKeyPair',
        summary: 'Rotate the key pair that signs',
        description: 'The old private key signs beside the new one for 24 hours.',
        tags,
        params: endpointPath,
        response: {
          200: Type.Object(
            { publicKey: text(samplePublicKey), previousPublicKeyUntil: like(dateTime, sampleUntil) },
            { description: 'The new public key, and until when the old private key signs too' },
          ),
        },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply);
      await endpoints.rotateKeyPair(
        callerOf(request),
        request.params.endpointId,
        ({ publicKey, previousPublicKeyUntil }) =>
          answer.remember({ publicKey, previousPublicKeyUntil: previousPublicKeyUntil.toISOString() }),
      );
      return answer.send();
    },
  );
}
