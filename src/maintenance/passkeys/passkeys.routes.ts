/** /damc/workers/{address}/invite and …/passkeys/, and /damc/passkeys/, which a worker's device uses with its link. */
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Type } from 'typebox';
import { anchorFields, anchorToJson } from '../../anchoring/anchored.ts';
import { proofOf } from '../../anchoring/proof-schema.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { AppError } from '../../runtime/errors.ts';
import { address, dateTime, like, named, plainText, sample, text } from '../../runtime/schemas.ts';
import {
  PasskeySchema,
  passkeyPath,
  passkeyToJson,
  sampleCode,
  samplePasskeyId,
  workerPath,
} from './passkey-json.ts';
import { lockWorker, type Passkey, readStatements, type Statement } from './passkeys.store.ts';
import type { Passkeys } from './passkeys.ts';
import { workerUrl } from './registrations.routes.ts';

const sampleToken = 'YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu';
const sampleWorkspace = 'Northport Terminal';
const sampleHash = '0x0c7d0f9a4f0e6c3d55f0f4b3c2f3f2b8f1a8a4a0b7b7f6f3f1e2d3c4b5a69788';

const token = text(sampleToken, { minLength: 1, maxLength: 100, description: 'The token from the link' });
const WorkerInvitationSchema = named(
  { title: 'WorkerInvitation', description: 'A link by which a worker registers a passkey, once' },
  Type.Object({
    id: text('win_01KJPV8JR0A12KSGG6EQ9ZTAJ3'),
    token,
    link: text(`https://holdfast.example.com/sign/${sampleToken}`, {
      description: 'For the worker: as a link or as a QR code',
    }),
    expiresAt: like(dateTime, '2026-03-09T08:10:00.000Z'),
  }),
);
const OptionsSchema = named(
  { title: 'WorkerPasskeyOptions', description: 'What a browser needs to make a passkey for a worker' },
  Type.Object({
    workerName: text(sample.workerName),
    workerAddress: text(sample.workerAddress),
    workspaceName: text(sampleWorkspace),
    invitedBy: text('Mira Castellanos', { description: 'Who made the link, or the API key that did' }),
    expiresAt: like(dateTime, '2026-03-09T08:10:00.000Z'),
    options: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'PublicKeyCredentialCreationOptionsJSON of WebAuthn',
        examples: [{ challenge: 'm2V0c2VudA', rp: { id: 'holdfast.example.com', name: 'Holdfast' } }],
      },
    ),
  }),
);
const RegisteredSchema = named(
  { title: 'RegisteredPasskey', description: 'A passkey that a second person has yet to confirm' },
  Type.Object({
    id: text(samplePasskeyId),
    code: text(sampleCode, { description: 'For the second person, who enters it to confirm' }),
  }),
);
const StatementSchema = named(
  { title: 'PasskeyStatement', description: 'That a passkey is the worker’s, or no longer; it is anchored' },
  Type.Object({
    number: Type.Integer({ description: 'Counted from 1 for each worker', examples: [1] }),
    hash: text(sampleHash, {
      description: 'SHA-256 of a random salt and the document in its RFC 8785 form; the salt is in the proof',
    }),
    ...anchorFields,
    document: Type.Object(
      { format: text('holdfast/passkey-registration@1') },
      { additionalProperties: true, description: 'The content of the proof' },
    ),
  }),
);

/** Tokens cannot be guessed; this only stops futile attempts. Several workers may share an address. */
const linkLimit = { requests: 120, windowSeconds: 60 };
const tags = ['workers'];
const statementPath = Type.Object({
  address: like(address, sample.workerAddress),
  number: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, examples: [1] }),
});
const closed = { additionalProperties: false };

export interface PasskeyRoutesDeps {
  db: Db;
  passkeys: Passkeys;
  makeProof: Proofs['make'];
  cursors: Cursors;
}

export function passkeyRoutes(app: Api, { db, passkeys, makeProof, cursors }: PasskeyRoutesDeps): void {
  const limiter = createRateLimiter(linkLimit);

  app.post(
    `${workerUrl}/invite`,
    {
      config: { scope: 'workers:write', freshSession: true },
      schema: {
        operationId: 'inviteWorker',
        summary: 'Invite a worker to register a passkey',
        description:
          'The link works once, for seven days, and replaces earlier ones. Somebody else must confirm the registration, so it takes a person, or an API key that a person has made.',
        tags,
        params: workerPath,
        response: { 201: WorkerInvitationSchema },
      },
    },
    async (request, reply) => {
      const { id, token, link, expiresAt } = await passkeys.invite(callerOf(request), request.params.address);
      return reply.code(201).send({ id, token, link, expiresAt: expiresAt.toISOString() });
    },
  );

  app.get(
    `${workerUrl}/passkeys/`,
    {
      config: { scope: 'workers:read' },
      schema: {
        operationId: 'listWorkerPasskeys',
        summary: 'List the passkeys of a worker',
        description: 'Oldest first, revoked and refused ones included.',
        tags,
        params: workerPath,
        querystring: Type.Object(pageParameters, closed),
        response: { 200: Type.Array(PasskeySchema) },
      },
    },
    async (request, reply) => {
      const { address } = request.params;
      const items = await fetchPage<Passkey>(
        {
          name: 'passkeys',
          filters: { address: address.toLowerCase() },
          fetch: (workspaceId, after, limit) =>
            passkeys.list({ workspaceId, address }, { after: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(passkeyToJson);
    },
  );

  app.post(
    `${workerUrl}/passkeys/:passkeyId/refuse`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'refuseWorkerPasskey',
        summary: 'Refuse a registration that was not the worker’s',
        tags,
        params: passkeyPath,
        response: { 200: PasskeySchema },
      },
    },
    async (request) => {
      const { address, passkeyId: id } = request.params;
      return passkeyToJson(await passkeys.refuse(callerOf(request), { address, id }));
    },
  );

  app.post(
    `${workerUrl}/passkeys/:passkeyId/revoke`,
    {
      config: { scope: 'workers:write', freshSession: true },
      schema: {
        operationId: 'revokeWorkerPasskey',
        summary: 'Revoke a passkey',
        description: 'It signs nothing any more; what it has signed stays valid. A repeat changes nothing.',
        tags,
        params: passkeyPath,
        body: Type.Object(
          {
            reason: plainText({
              minLength: 1,
              maxLength: 1_000,
              description: 'Why; it is anchored',
              examples: ['Phone lost'],
            }),
          },
          closed,
        ),
        response: { 200: PasskeySchema },
      },
    },
    async (request) => {
      const { address, passkeyId: id } = request.params;
      return passkeyToJson(
        await passkeys.revoke(callerOf(request), { address, id, reason: request.body.reason }),
      );
    },
  );

  async function findStatement(
    workspaceId: string,
    { address, number }: { address: string; number: number },
  ): Promise<Statement> {
    const { id } = await lockWorker(db, workspaceId, { address }, { lock: false });
    const found = (await readStatements(db, workspaceId, [id])).find((one) => one.number === number);
    if (found) return found;
    throw new AppError('resource_not_found', `There is no statement ${number} about passkeys of ${address}.`);
  }

  app.get(
    `${workerUrl}/passkeys/statements/:number/`,
    {
      config: { scope: 'workers:read' },
      schema: {
        operationId: 'getPasskeyStatement',
        summary: 'Get what was anchored about a passkey',
        tags,
        params: statementPath,
        response: { 200: StatementSchema },
      },
    },
    async (request) => {
      const { number, hash, document, ...state } = await findStatement(
        callerOf(request).workspaceId,
        request.params,
      );
      return { number, hash, ...anchorToJson(state), document: JSON.parse(document) };
    },
  );

  app.get(
    `${workerUrl}/passkeys/statements/:number/proof/`,
    {
      config: { scope: 'workers:read', tellsOfChain: true },
      schema: {
        operationId: 'getPasskeyProof',
        summary: 'Get the proof of what was anchored about a passkey',
        description: '409 until it is confirmed.',
        tags,
        params: statementPath,
        response: {
          200: proofOf({
            ...{ kind: 'passkey', id: 'wrk_01KJPV8JR0A12KSGG6EQ9ZTAJ3', digest: sampleHash },
            claims: { worker: sample.workerAddress, state: 'registered' },
          }),
        },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      const { workerId, number, hash, salt } = await findStatement(workspaceId, request.params);
      const content = {
        algorithm: 'sha-256',
        digest: hash,
        canonicalization: 'jcs',
        salt: `0x${salt.toString('hex')}`,
      } as const;
      return {
        ...(await makeProof({ workspaceId, kind: 'passkey', subjectId: workerId, version: number, content })),
      };
    },
  );

  app.post(
    `${apiBase}/damc/passkeys/options`,
    {
      schema: {
        operationId: 'getWorkerPasskeyOptions',
        summary: 'Get what a browser needs to make a passkey',
        description: 'For the device of a worker who has a link. Needs no key.',
        tags,
        body: Type.Object({ token }, closed),
        response: {
          200: OptionsSchema,
        },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { worker, workspaceName, invitedBy, expiresAt, options } = await passkeys.options(
        request.body.token,
      );
      return {
        workerName: worker.name,
        workerAddress: worker.address,
        workspaceName,
        invitedBy,
        expiresAt: expiresAt.toISOString(),
        options: { ...options },
      };
    },
  );

  app.post(
    `${apiBase}/damc/passkeys/register`,
    {
      config: { secretAnswer: true },
      schema: {
        operationId: 'registerWorkerPasskey',
        summary: 'Register a passkey with a link',
        description:
          'The passkey signs only after a second person has confirmed it with the code of the answer, and the worker has signed that. Needs no key.',
        tags,
        body: Type.Object(
          {
            token,
            response: Type.Object(
              {},
              {
                additionalProperties: true,
                description: 'RegistrationResponseJSON of WebAuthn',
                examples: [{ id: 'AQIDBA', rawId: 'AQIDBA', type: 'public-key', response: {} }],
              },
            ),
          },
          closed,
        ),
        response: {
          201: RegisteredSchema,
        },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { token, response } = request.body;
      const registered = response as unknown as RegistrationResponseJSON;
      return reply.code(201).send(await passkeys.register(token, registered, request.id));
    },
  );
}
