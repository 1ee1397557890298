/** Sign-offs of an entry: their JSON in responses, single sign-offs, and their proofs. */
import { Type } from 'typebox';
import { anchorFields, anchorToJson } from '../../anchoring/anchored.ts';
import { proofOf } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { address, dateTime, like, named, orNull, sample, text } from '../../runtime/schemas.ts';
import { sampleLicence, sampleSignoff } from '../signing/sample-work.ts';
import { type SignoffRole, signoffRoles } from '../signing/signoff-rules.ts';
import type { Signoff } from './maintenances.store.ts';
import type { Maintenances } from './maintenances.ts';

export const signoffsUrl = `${apiBase}/damc/assets/:assetId/maintenances/:maintenanceId/signoffs/`;
export const role = Type.Unsafe<SignoffRole>(Type.String({ enum: [...signoffRoles] }));
export const signature = text(sample.signature, {
  description:
    '65 bytes in hex: r, s in the lower half of the order, v 27 or 28; of a passkey, the signature of its assertion',
});

const sampleHash = '0xf371463503287f1c94783600d68efdafbf495c93e1ffb7444365387a3ca7cf23';

const signoffFields = {
  number: Type.Integer({ description: 'Counted from 1 within the entry' }),
  role,
  workerAddress: text(sample.workerAddress, { description: 'Who signed, EIP-55' }),
  workerName: text(sample.workerName, { description: 'The name at that time' }),
  licence: orNull(
    Type.Object(
      {
        category: orNull(Type.String()),
        scope: Type.String(),
        number: Type.String(),
        authority: Type.String(),
        validFrom: orNull(dateTime),
        expiresAt: orNull(dateTime),
        suspendedAt: orNull(dateTime),
      },
      {
        description: 'The licence used, as it was at that time; null if none was needed',
        examples: [sampleLicence],
      },
    ),
  ),
  signedAt: like(dateTime, sample.signedAt),
  receivedAt: orNull(
    text(sample.signedAt, {
      ...dateTime,
      description:
        'When the service received a signature that was made elsewhere. signedAt is then a statement of the device that signed, which may have waited for a network. Null if the service signed',
    }),
  ),
  signedWith: Type.String({
    enum: ['own-key', 'held-key', 'passkey'],
    description:
      'Whose key signed: one that the worker holds, one that the service holds for them, or a passkey',
  }),
  statement: text(`Signed by ${sample.workerName} with their own key.`, {
    description:
      'The same in words; also says when the service signed on behalf of the worker, and that the time is a statement when the signature was sent later',
  }),
  signature,
  signoffHash: text(sampleHash, {
    description: 'SHA-256 of a random salt and the sign-off in its RFC 8785 form; the salt is in the proof',
  }),
  ...anchorFields,
};
export const SignoffSchema = named(
  { title: 'Signoff', description: 'A sign-off of a maintenance entry' },
  Type.Object(signoffFields),
);

const WholeSignoffSchema = named(
  { title: 'SignoffWithDocument', description: 'A sign-off with the document that was hashed' },
  Type.Object({
    ...signoffFields,
    document: Type.Object(
      { format: Type.String() },
      {
        additionalProperties: true,
        description: 'The document that was hashed; it is the content of the proof',
        examples: [sampleSignoff],
      },
    ),
  }),
);

const tags = ['maintenances'];
const signoffPath = Type.Object({
  assetId: text(sample.assetId),
  maintenanceId: text(sample.maintenanceId),
  number: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, examples: [1] }),
});
const viewer = Type.Object({ viewerAddress: address }, { additionalProperties: false });

export function entrySignoffRoutes(app: Api, { maintenances }: { maintenances: Maintenances }): void {
  app.get(
    `${signoffsUrl}:number/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'getSignoff',
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
      // Sends the document as exactly the text that was hashed.
      const body = `${JSON.stringify(signoffToJson(signoff)).slice(0, -1)},"document":${document}}`;
      return reply.type('application/json; charset=utf-8').send(body as never);
    },
  );

  app.get(
    `${signoffsUrl}:number/proof/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'getSignoffProof',
        summary: 'Get the proof of a sign-off',
        description:
          'One JSON document, `holdfast/proof@1`, whose content is the `document` of the sign-off. 409 until it is confirmed.',
        tags,
        params: signoffPath,
        querystring: viewer,
        response: {
          200: proofOf({
            ...{ kind: 'signoff', id: sample.maintenanceId, digest: sampleHash, previousLeaf: sample.leaf },
            claims: { assetId: sample.assetId, role: 'performed' },
          }),
        },
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
