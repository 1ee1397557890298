/** /damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/, and sign-offs as other answers show them. */
import { Type } from 'typebox';
import { anchorToJson } from '../../anchoring/anchor-state.ts';
import { anchorFields } from '../../holdings/records/records.routes.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { address, dateTime, orNull, plainText } from '../../http/api/schemas.ts';
import type { Signoff } from '../entries/maintenances.store.ts';
import type { Maintenances } from '../entries/maintenances.ts';
import { makeSignoffTypedData } from '../signing/signoff.ts';
import { type SignoffRole, signoffRoles } from '../signing/signoff-rules.ts';
import type { Signoffs } from './signoffs.ts';

const role = Type.Unsafe<SignoffRole>(Type.String({ enum: [...signoffRoles] }));
const signature = Type.String({
  description: '65 bytes in hex: r, s in the lower half of the order, v 27 or 28',
});

const signoffFields = {
  number: Type.Integer({ description: 'Counts from 1 in each entry' }),
  role,
  workerAddress: Type.String({ description: 'Who signed, EIP-55' }),
  workerName: Type.String({ description: 'The name of that time' }),
  licence: orNull(
    Type.Object(
      {
        scope: Type.String(),
        number: Type.String(),
        authority: Type.String(),
        expiresAt: orNull(dateTime),
      },
      { description: 'What the sign-off rests on, as it was then; null when it needed none' },
    ),
  ),
  signedAt: dateTime,
  signature,
  signoffHash: Type.String({
    description: 'SHA-256 of a random salt and the sign-off in its RFC 8785 form; the salt is in the proof',
  }),
  ...anchorFields,
};
export const SignoffSchema = Type.Object(signoffFields);

const WholeSignoffSchema = Type.Object({
  ...signoffFields,
  document: Type.Object(
    { format: Type.String() },
    {
      additionalProperties: true,
      description: 'The very document that was hashed: the content of the proof',
    },
  ),
});

const Members = Type.Array(Type.Object({ name: Type.String(), type: Type.String() }));
const TypedDataSchema = Type.Object({
  domain: Type.Object({ name: Type.String(), version: Type.String() }),
  types: Type.Object({ EIP712Domain: Members, Signoff: Members }),
  primaryType: Type.String(),
  message: Type.Object({
    workspaceId: Type.String(),
    assetId: Type.String(),
    maintenanceId: Type.String(),
    maintenanceHash: Type.String(),
    role,
    worker: Type.String(),
    licenceScope: Type.String({ description: 'Empty when no licence is used' }),
    licenceNumber: Type.String(),
    signedAt: Type.Integer({ description: 'Seconds since 1970' }),
  }),
  signedAt: Type.String({ ...dateTime, description: 'To be handed in with the signature' }),
  expiresAt: Type.String({ ...dateTime, description: 'Until then the signature is taken' }),
});

const tags = ['maintenances'];
const url = `${apiBase}/damc/assets/:assetId/maintenances/:maintenanceId/signoffs/`;
const entryPath = Type.Object({ assetId: Type.String(), maintenanceId: Type.String() });
const signoffPath = Type.Object({
  assetId: Type.String(),
  maintenanceId: Type.String(),
  number: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
});
const requested = {
  workerAddress: address,
  role,
  licenceScope: Type.Optional(
    plainText({ minLength: 1, maxLength: 200, description: 'Which licence to use, where several fit' }),
  ),
};
const viewer = Type.Object({ viewerAddress: address }, { additionalProperties: false });

export interface SignoffRoutesDeps {
  signoffs: Signoffs;
  maintenances: Maintenances;
  idempotency: Idempotency;
}

export function signoffRoutes(app: Api, { signoffs, maintenances, idempotency }: SignoffRoutesDeps): void {
  app.post(
    url,
    {
      config: { scope: 'assets:write', tellsOfChain: true, idempotent: true },
      schema: {
        summary: 'Sign a maintenance off',
        description:
          'In the order performed, inspected (may be left out), certified. Whoever did the work neither inspects nor certifies it, and both need a licence that fits. A worker with an own key hands in a signature over the typed data of `request/`.',
        tags,
        params: entryPath,
        body: Type.Object(
          {
            ...requested,
            signature: Type.Optional(signature),
            signedAt: Type.Optional(
              Type.String({ ...dateTime, description: 'As in the typed data; with a signature only' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 201: SignoffSchema },
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
        summary: 'Get the typed data of a sign-off',
        description:
          'For a worker with an own key: EIP-712 data to be signed outside and handed in within 24 hours.',
        tags,
        params: entryPath,
        querystring: Type.Object(requested, { additionalProperties: false }),
        response: { 200: TypedDataSchema },
      },
    },
    async (request) => {
      const input = { ...request.params, ...request.query };
      const { fields, expiresAt } = await signoffs.prepare(callerOf(request), input);
      const { domain, types, primaryType } = makeSignoffTypedData(fields);
      return {
        domain,
        // Wallets that take JSON want the domain's type as well; libraries that do not are told in the documentation.
        types: { EIP712Domain: domainType, Signoff: [...types.Signoff] },
        primaryType,
        message: fields,
        signedAt: new Date(fields.signedAt * 1000).toISOString(),
        expiresAt: expiresAt.toISOString(),
      };
    },
  );

  app.get(
    `${url}:number/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        summary: 'Get a sign-off',
        tags,
        params: signoffPath,
        querystring: viewer,
        response: { 200: WholeSignoffSchema },
      },
    },
    async (request, reply) => {
      const { number, ...entry } = request.params;
      const view = { caller: callerOf(request), ...entry, ...request.query };
      const { signoff, document } = await maintenances.getSignoff(view, number);
      // The document goes out as the very text that was hashed.
      const body = `${JSON.stringify(signoffToJson(signoff)).slice(0, -1)},"document":${document}}`;
      return reply.type('application/json; charset=utf-8').send(body as never);
    },
  );

  app.get(
    `${url}:number/proof/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        summary: 'Get the proof of a sign-off',
        description:
          'One JSON document, `holdfast/proof@1`, whose content is `document` of the sign-off. 409 until it is confirmed.',
        tags,
        params: signoffPath,
        querystring: viewer,
        response: { 200: Type.Object({ format: Type.String() }, { additionalProperties: true }) },
      },
    },
    async (request) => {
      const { number, ...entry } = request.params;
      const view = { caller: callerOf(request), ...entry, ...request.query };
      return { ...(await maintenances.signoffProof(view, number)) };
    },
  );
}

export function signoffToJson({ status, anchor, ...rest }: Signoff) {
  return { ...rest, ...anchorToJson({ status, anchor }) };
}

const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
];
