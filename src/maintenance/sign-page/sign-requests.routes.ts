/** …/signoffs/requests/ makes a link to sign by, and /damc/sign-requests/ is what the page behind it calls with its token. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { CursorPosition, Cursors } from '../../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { attachment, attachmentPolicy, safeMediaType } from '../../http/bodies/attachment.ts';
import { dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import { role, SignoffSchema, signoffsUrl, signoffToJson } from '../entries/entry-signoffs.routes.ts';
import { Assertion } from '../passkeys/assertion-schema.ts';
import { sampleAsset, sampleWork } from '../signing/sample-work.ts';
import { askedMembers } from '../signoffs/message-schema.ts';
import { entryPath, requested } from '../signoffs/signoffs.routes.ts';
import type { LinkPage, OpenLink } from './sign-requests.store.ts';
import type { SignRequests } from './sign-requests.ts';

const sampleToken = 'sig_YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu';
const token = text(sampleToken, { minLength: 1, maxLength: 100, description: 'The token from the link' });
const requester = text('Mira Castellanos', {
  description: 'Who made the link; null if it was made with an API key',
});
const expiresAt = like(dateTime, '2026-03-09T08:10:00.000Z');

const MadeSchema = named(
  { title: 'SignRequest', description: 'A link by which a worker signs an entry on their own device' },
  Type.Object({
    id: text(sample.signRequestId),
    token,
    link: text(`https://holdfast.example.com/sign/${sampleToken}`, {
      description: 'For the worker: as a link or as a QR code',
    }),
    expiresAt,
  }),
);

const LinkSchema = named(
  { title: 'SignLink', description: 'A link that can still be signed by, without the link itself' },
  Type.Object({
    id: text(sample.signRequestId),
    workerAddress: text(sample.workerAddress),
    workerName: text(sample.workerName, { description: 'Who is to sign' }),
    role,
    requestedBy: orNull(requester),
    createdAt: like(dateTime, sample.signedAt),
    expiresAt,
  }),
);

const OpenSchema = named(
  { title: 'OpenSignRequest', description: 'What a link asks a worker to sign' },
  Type.Object({
    workspaceName: text('Northport Terminal'),
    requestedBy: orNull(requester),
    workerName: text(sample.workerName, { description: 'Who is to sign' }),
    assetName: text(sampleAsset.name),
    entry: Type.Object({
      type: text(sampleWork.type),
      summary: text(sampleWork.summary),
      performedAt: like(dateTime, sample.performedAt),
      workerName: text(sample.workerName, { description: 'Who did the work' }),
      files: Type.Array(Type.Object({ fileId: text(sample.fileId), name: text(sample.fileName) })),
      signoffs: Type.Array(
        Type.Object({
          role,
          workerName: text(sample.workerName),
          signedAt: like(dateTime, sample.signedAt),
        }),
        { examples: [[]] },
      ),
    }),
    statement: text('I have inspected this work.', { description: 'What the signature says' }),
    message: Type.Object(askedMembers, {
      description:
        'The message of the typed data without `signedAt`, which the device adds: the digest of all of it is the challenge',
    }),
    passkey: Type.Object(
      {
        rpId: text('holdfast.example.com'),
        allowCredentials: Type.Array(Type.Object({ type: text('public-key'), id: text('AQIDBA') }), {
          maxItems: 20,
        }),
        userVerification: text('required'),
      },
      { description: 'PublicKeyCredentialRequestOptionsJSON of WebAuthn, without the challenge' },
    ),
    now: like(dateTime, sample.signedAt),
    expiresAt,
  }),
);

/** Tokens cannot be guessed; this only stops futile attempts. Several workers may share an address. */
const linkLimit = { requests: 240, windowSeconds: 60 };
const tags = ['maintenances'];
const closed = { additionalProperties: false };
const url = `${apiBase}/damc/sign-requests`;

export interface SignRequestRoutesDeps {
  signRequests: SignRequests;
  cursors: Cursors;
}

export function signRequestRoutes(app: Api, { signRequests, cursors }: SignRequestRoutesDeps): void {
  const limiter = createRateLimiter(linkLimit);

  app.post(
    `${signoffsUrl}requests/`,
    {
      config: { scope: 'assets:write', secretAnswer: true, freshSession: true },
      schema: {
        operationId: 'requestSignature',
        summary: 'Make a link to sign by',
        description:
          'For a worker with a passkey. The link signs once, is valid for seven days, and replaces an earlier one for the same worker and role. It is refused for the same reasons as the sign-off.',
        tags,
        params: entryPath,
        body: Type.Object(requested, closed),
        response: { 201: MadeSchema },
      },
    },
    async (request, reply) => {
      const made = await signRequests.create(callerOf(request), { ...request.params, ...request.body });
      return reply.code(201).send({ ...made, expiresAt: made.expiresAt.toISOString() });
    },
  );

  app.get(
    `${signoffsUrl}requests/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'listSignatureRequests',
        summary: 'List the links to sign an entry by',
        description:
          'Those that were not signed by, are not withdrawn and have not expired. The links themselves are not stored: to hand one out again, make a new one.',
        tags,
        params: entryPath,
        querystring: Type.Object(pageParameters, closed),
        response: { 200: Type.Array(LinkSchema) },
      },
    },
    async (request, reply) => {
      const { maintenanceId } = request.params;
      const items = await fetchPage<OpenLink>(
        {
          name: 'sign-requests',
          filters: { maintenanceId },
          fetch: (workspaceId, after, limit) =>
            signRequests.list({ workspaceId, ...request.params }, { after: linkAfter(after), limit }),
          positionOf: ({ workerId, role }) => [workerId, role],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(({ workerId: _, createdAt, expiresAt, ...link }) => ({
        ...link,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      }));
    },
  );

  app.delete(
    `${url}/:requestId`,
    {
      config: { scope: 'assets:write', freshSession: true },
      schema: {
        operationId: 'withdrawSignatureRequest',
        summary: 'Withdraw a link to sign by',
        description:
          'It signs nothing any more, also not what a device signed by it and has not sent yet. What was received stays. A repeat changes nothing.',
        tags,
        params: Type.Object({ requestId: text(sample.signRequestId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await signRequests.withdraw(callerOf(request), request.params.requestId);
      return reply.code(204).send(null);
    },
  );

  app.post(
    `${url}/open`,
    {
      config: { secretAnswer: true },
      schema: {
        operationId: 'openSignRequest',
        summary: 'Look at what a link asks to sign',
        description:
          'For the device of a worker who has the link. Needs no key. The look is in the access log.',
        tags,
        body: Type.Object({ token }, closed),
        response: { 200: OpenSchema },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { expiresAt, ...open } = await signRequests.open(request.body.token, request.id);
      return { ...open, now: new Date().toISOString(), expiresAt: expiresAt.toISOString() };
    },
  );

  app.post(
    `${url}/file`,
    {
      schema: {
        operationId: 'getSignRequestFile',
        summary: 'Download a file of the entry that a link asks to sign',
        description: 'The bytes of the attached version. Needs no key. The look is in the access log.',
        tags,
        body: Type.Object(
          { token, fileId: plainText({ minLength: 1, maxLength: 100, examples: [sample.fileId] }) },
          closed,
        ),
        response: {
          200: {
            description: 'The content',
            content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { token, fileId } = request.body;
      const { name, mediaType, size, read } = await signRequests.file(token, fileId, request.id);
      return reply
        .headers({
          'content-type': safeMediaType(mediaType),
          'content-length': size,
          'content-disposition': attachment(name),
          'content-security-policy': attachmentPolicy,
        })
        .send(Readable.from(await read()) as never);
    },
  );

  app.post(
    `${url}/sign`,
    {
      config: { tellsOfChain: true },
      schema: {
        operationId: 'signBySignRequest',
        summary: 'Sign by a link',
        description:
          'With the passkey of the worker whom the link is for. Needs no key. The device may have signed earlier, without network: `signedAt` lies between the making of the link and now, and the link must still be valid. A repeat with the same assertion gets the same answer.',
        tags,
        body: Type.Object(
          {
            token,
            signedAt: like(dateTime, sample.signedAt),
            assertion: Assertion,
          },
          closed,
        ),
        response: { 201: SignoffSchema },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { token, signedAt, assertion } = request.body;
      const given = { signedAt: new Date(signedAt), assertion };
      return reply.code(201).send(signoffToJson(await signRequests.sign(token, given, request.id)));
    },
  );
}

function linkAfter(after: CursorPosition | undefined): LinkPage['after'] {
  if (!after) return null;
  const [workerId, role] = after as [string, OpenLink['role']];
  return { workerId, role };
}
