/** Passkeys: /auth/passkey signs in and confirms with them; /platform/passkeys lists, registers and removes one's own. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { RateLimiter } from '../../http/admission/rate-limit.ts';
import { requireSameOrigin } from '../../http/admission/same-origin.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Person } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { dateTime, like, name, named, orNull, text } from '../../runtime/schemas.ts';
import { findUser } from '../people/members.ts';
import { type SignIn, signInBase } from '../people/sign-in.ts';
import { confirmSession, enterHere } from '../people/sign-in-effects.ts';
import type { SignInThrottle } from '../people/sign-in-throttle.ts';
import type { Passkey, Passkeys } from './passkeys.ts';
import { siteOf } from './site.ts';

export interface PasskeyRoutesDeps {
  db: Db;
  passkeys: Passkeys;
  signIn: Pick<SignIn, 'find' | 'enter'>;
  signInThrottle: SignInThrottle;
  /** Of sign-ins by anybody. */
  beginnings: RateLimiter;
  publicUrl(): string;
}

const samplePasskey = 'psk_01KJPT3YW0RPGTEA3W2DN4G08C';
const PasskeySchema = named(
  { title: 'Passkey', description: 'A passkey with which you sign in' },
  Type.Object({
    id: text(samplePasskey),
    name: text('Laptop'),
    createdAt: like(dateTime, '2026-03-02T08:30:00.000Z'),
    lastUsedAt: orNull(dateTime),
  }),
);
/** As `navigator.credentials` gives it; the library looks into it. */
const CredentialSchema = Type.Object(
  { id: Type.String({ maxLength: 2000, examples: ['Y3JlZGVudGlhbA'] }) },
  { additionalProperties: true, description: 'What `navigator.credentials` returned, as JSON' },
);

const url = `${apiBase}/platform/passkeys`;
const tags = ['people'];

export function passkeyRoutes(app: Api, deps: PasskeyRoutesDeps): void {
  const { db, passkeys, signIn, signInThrottle, beginnings, publicUrl } = deps;
  const onRequest = async (request: FastifyRequest) => requireSameOrigin(request, publicUrl());

  app.post(`${signInBase}/passkey/options`, { schema: { hide: true }, onRequest }, async (request, reply) => {
    beginnings.countAddress(request.ip, reply);
    return passkeys.options(siteOf(publicUrl()));
  });

  app.post(
    `${signInBase}/passkey/verify`,
    {
      config: { secretAnswer: true },
      schema: {
        hide: true,
        body: Type.Object({ response: CredentialSchema }, { additionalProperties: false }),
      },
      onRequest,
    },
    async (request, reply) => {
      // Whose passkey it is is not known yet, and a signature cannot be guessed: only the address is counted.
      const guess = { of: null, address: request.ip };
      await signInThrottle.begin(guess);
      const response = request.body.response as unknown as AuthenticationResponseJSON;
      const { userId, passkeyId } = await passkeys.verify(siteOf(publicUrl()), response).catch((error) => {
        request.log.warn({ requestId: request.id, address: request.ip }, 'passkey refused');
        throw error;
      });
      await signInThrottle.succeeded(guess);
      const session = await signIn.find(request.headers.cookie ?? '');
      if (session?.userId === userId) {
        await confirmSession(db, session, { by: 'passkey', requestId: request.id });
        return { confirmed: true };
      }
      if (session) throw new AppError('forbidden', 'This passkey belongs to somebody else.');
      const userAgent = request.headers['user-agent'] ?? '';
      const { sessionId, cookies } = await signIn.enter(userId, { address: request.ip, userAgent });
      const begun = { userId, sessionId, by: 'passkey', requestId: request.id } as const;
      await enterHere(db, { ...begun, details: { passkeyId } });
      reply.header('set-cookie', cookies);
      return { signedIn: true };
    },
  );

  app.get(
    url,
    {
      config: { role: 'viewer', withoutSecondFactor: true },
      schema: {
        operationId: 'listPasskeys',
        summary: 'List your passkeys',
        tags,
        response: { 200: Type.Array(PasskeySchema) },
      },
    },
    async (request) => (await passkeys.list(personOf(request).userId)).map(toJson),
  );

  app.post(
    `${url}/options`,
    {
      config: { role: 'viewer', withoutSecondFactor: true, freshSession: true },
      schema: {
        operationId: 'getPasskeyOptions',
        summary: 'Begin to register a passkey',
        description:
          'Returns the options for `navigator.credentials.create`. They are valid for five minutes, once.',
        tags,
        response: {
          200: Type.Object(
            { challenge: text('Y2hhbGxlbmdl') },
            { additionalProperties: true, description: 'PublicKeyCredentialCreationOptions as JSON' },
          ),
        },
      },
    },
    async (request) => {
      const owner = await findUser(db, personOf(request).userId);
      return { ...(await passkeys.registrationOptions(siteOf(publicUrl()), { ...owner, userId: owner.id })) };
    },
  );

  app.post(
    url,
    {
      config: { role: 'viewer', withoutSecondFactor: true, freshSession: true },
      schema: {
        operationId: 'createPasskey',
        summary: 'Register a passkey',
        tags,
        body: Type.Object(
          { name: like(name, 'Laptop'), response: CredentialSchema },
          { additionalProperties: false },
        ),
        response: { 201: like(PasskeySchema, { lastUsedAt: null }) },
      },
    },
    async (request, reply) => {
      const owner = await findUser(db, personOf(request).userId);
      const made = await passkeys.register(
        siteOf(publicUrl()),
        { ...owner, userId: owner.id },
        {
          name: request.body.name,
          response: request.body.response as unknown as RegistrationResponseJSON,
          sessionId: personOf(request).sessionId,
          requestId: request.id,
        },
      );
      return reply.code(201).send(toJson(made));
    },
  );

  app.delete(
    `${url}/:passkeyId`,
    {
      config: { role: 'viewer', freshSession: true },
      schema: {
        operationId: 'removePasskey',
        summary: 'Remove one of your passkeys',
        tags,
        params: Type.Object({ passkeyId: text(samplePasskey) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await passkeys.remove(personOf(request).userId, request.params.passkeyId, request.id);
      return reply.code(204).send(null);
    },
  );
}

function personOf(request: FastifyRequest): Person {
  const { person } = callerOf(request);
  if (!person) throw new Error('a route for people was passed by somebody else');
  return person;
}

function toJson({ createdAt, lastUsedAt, ...rest }: Passkey) {
  return { ...rest, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}
