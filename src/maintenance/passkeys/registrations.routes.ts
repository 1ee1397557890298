/**
 * How a registered passkey comes to count: …/passkeys/{passkeyId}/confirm by a second person, and what the worker signs: with
 * their own key at …/sign, with another passkey by a link, whose page calls /damc/passkeys/open and …/sign.
 */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { registrationFormat, registrationTypes } from '../../proof/signoff/passkey-document.ts';
import { networkOf } from '../../runtime/client-network.ts';
import { dateTime, like, named, plainText, sample, text, unshown } from '../../runtime/schemas.ts';
import { signature } from '../entries/entry-signoffs.routes.ts';
import { sampleCreatedAt } from '../signing/sample-work.ts';
import { domainType, shownTypedData, signedDomain } from '../signing/typed-data.ts';
import { Assertion, PasskeyOptions, typeMembers } from './assertion-schema.ts';
import { PasskeySchema, passkeyPath, passkeyToJson, sampleCode } from './passkey-json.ts';
import type { RegistrationLinks } from './registration-links.ts';
import type { Registrations } from './registrations.ts';

const sampleToken = 'reg_YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu';
const token = text(sampleToken, { minLength: 1, maxLength: 100, description: 'The token from the link' });
const expiresAt = like(dateTime, '2026-03-09T08:10:00.000Z');
const Message = Type.Object({
  format: text(registrationFormat),
  workspaceId: text(sample.workspaceId),
  workerId: text('wrk_01KJPV8JR0A12KSGG6EQ9ZTAJ3'),
  workerAddress: text(sample.workerAddress),
  workerName: text(sample.workerName),
  number: Type.Integer({ description: 'Of the statement, counted from 1 for each worker', examples: [1] }),
  vault: text(sample.vaultAddress.toLowerCase(), { description: 'Whose key seals it' }),
  credentialId: text('0x01020304'),
  publicKey: text('0x3059', { description: 'A SubjectPublicKeyInfo' }),
  rpId: text('holdfast.example.com'),
  attestation: Type.Object({
    format: text('none'),
    aaguid: text('00000000-0000-0000-0000-000000000000'),
    object: text('0xa3'),
    clientDataJSON: text('{"type":"webauthn.create"}'),
  }),
  invitedBy: text(sample.userId),
  invitedWith: text('', { description: 'The API key by which that was done; empty if there was none' }),
  registeredAt: like(dateTime, sampleCreatedAt),
  confirmedBy: text('usr_01KJPRZB00C8H1J5M2Q7T9V3XA'),
  confirmedAt: like(dateTime, sampleCreatedAt),
  signedWith: text('own-key'),
});
const TypedDataSchema = named(
  {
    title: 'PasskeyRegistrationRequest',
    description: 'EIP-712 data by which a worker says that a passkey is theirs',
  },
  Type.Object({
    domain: Type.Object({ name: Type.String(), version: Type.String() }, { examples: [signedDomain] }),
    types: Type.Object(
      { EIP712Domain: typeMembers, PasskeyRegistration: typeMembers, Attestation: typeMembers },
      { examples: [{ EIP712Domain: domainType, ...registrationTypes }] },
    ),
    primaryType: text('PasskeyRegistration'),
    message: Message,
    passkey: PasskeyOptions,
  }),
);
const LinkSchema = named(
  {
    title: 'PasskeyRegistrationLink',
    description: 'A link by which a worker signs, with a passkey that they have, that another one is theirs',
  },
  Type.Object({
    token,
    link: text(`https://holdfast.example.com/sign/${sampleToken}`, {
      description: 'For the worker: as a link or as a QR code',
    }),
    expiresAt,
  }),
);
const OpenSchema = named(
  { title: 'OpenPasskeyRegistration', description: 'What a link asks a worker to sign of another passkey' },
  Type.Object({
    workspaceName: text('Northport Terminal'),
    workerName: text(sample.workerName),
    confirmedBy: text('Mira Castellanos', { description: 'The second person' }),
    code: text(sampleCode, { description: 'As the device with the other passkey shows it' }),
    message: Type.Object(Message.properties, {
      description: 'The message of the typed data, of which the digest is the challenge',
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
    expiresAt,
  }),
);

/** Tokens cannot be guessed; this only stops futile attempts. Several workers may share an address. */
const linkLimit = { requests: 120, windowSeconds: 60 };
const tags = ['workers'];
export const workerUrl = `${apiBase}/damc/workers/:address`;
const closed = { additionalProperties: false };

export interface RegistrationRoutesDeps {
  registrations: Registrations;
  links: RegistrationLinks;
}

export function registrationRoutes(app: Api, { registrations, links }: RegistrationRoutesDeps): void {
  const limiter = createRateLimiter(linkLimit);

  app.post(
    `${workerUrl}/passkeys/:passkeyId/confirm`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'confirmWorkerPasskey',
        summary: 'Confirm whose passkey it is',
        description:
          'By an admin who is not the worker and did not invite them, with the code that the worker sees on their device. If the service holds the key of the worker, it signs the registration with that key and destroys it; otherwise the worker has to sign it.',
        tags,
        params: passkeyPath,
        body: Type.Object(
          {
            code: plainText({
              minLength: 1,
              maxLength: 20,
              description: 'From the worker’s device',
              examples: [sampleCode],
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
        await registrations.confirm(callerOf(request), { address, id, code: request.body.code }),
      );
    },
  );

  app.get(
    `${workerUrl}/passkeys/:passkeyId/sign`,
    {
      config: { scope: 'workers:read' },
      schema: {
        operationId: 'getPasskeyRegistrationRequest',
        summary: 'Get the typed data of a registration',
        description:
          'Once a second person has confirmed it: EIP-712 data for a worker who holds their own key, to sign outside the service. For a worker who has passkeys it also has the options for one of these.',
        tags,
        params: passkeyPath,
        response: { 200: TypedDataSchema },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      const { address, passkeyId: id } = request.params;
      const { typedData, passkey } = await registrations.prepare({ workspaceId, address, id });
      // Wallets that take JSON also need the type of the domain.
      const { domain, types, primaryType, message } = shownTypedData(typedData);
      return { domain, types, primaryType, message, passkey };
    },
  );

  app.post(
    `${workerUrl}/passkeys/:passkeyId/sign`,
    {
      config: { scope: 'workers:write', freshSession: false },
      schema: {
        operationId: 'signPasskeyRegistration',
        summary: 'Hand in the signature of a registration',
        description:
          'By the worker, over the typed data that GET returns: `signature` by the key of their address if they have no passkey yet, otherwise the `assertion` of one. From then on only passkeys sign for the worker.',
        tags,
        params: passkeyPath,
        body: Type.Object({ signature: unshown(signature), assertion: unshown(Assertion) }, closed),
        response: { 200: PasskeySchema },
      },
    },
    async (request) => {
      const { address, passkeyId: id } = request.params;
      return passkeyToJson(await registrations.sign(callerOf(request), { address, id }, request.body));
    },
  );

  app.post(
    `${workerUrl}/passkeys/:passkeyId/link`,
    {
      config: { scope: 'workers:write', freshSession: true, secretAnswer: true },
      schema: {
        operationId: 'linkPasskeyRegistration',
        summary: 'Make a link to sign a registration by',
        description:
          'For a worker who has another passkey: they open it on the device with that one. It is valid for seven days, and replaces earlier ones.',
        tags,
        params: passkeyPath,
        response: { 201: LinkSchema },
      },
    },
    async (request, reply) => {
      const { address, passkeyId: id } = request.params;
      const { token, link, expiresAt } = await links.make(callerOf(request), { address, id });
      return reply.code(201).send({ token, link, expiresAt: expiresAt.toISOString() });
    },
  );

  app.post(
    `${apiBase}/damc/passkeys/open`,
    {
      config: { secretAnswer: true },
      schema: {
        operationId: 'openPasskeyRegistration',
        summary: 'Look at what a link asks to sign of another passkey',
        description: 'For the device of a worker who has the link. Needs no key.',
        tags,
        body: Type.Object({ token }, closed),
        response: { 200: OpenSchema },
      },
    },
    async (request, reply) => {
      limiter.count(`address ${networkOf(request.ip)}`, reply);
      const { expiresAt, ...open } = await links.open(request.body.token);
      return { ...open, expiresAt: expiresAt.toISOString() };
    },
  );

  app.post(
    `${apiBase}/damc/passkeys/sign`,
    {
      schema: {
        operationId: 'signPasskeyRegistrationByLink',
        summary: 'Sign by a link that another passkey is one’s own',
        description: 'With a passkey that the worker has. Needs no key.',
        tags,
        body: Type.Object({ token, assertion: Assertion }, closed),
        response: { 200: PasskeySchema },
      },
    },
    async (request, reply) => {
      limiter.count(`address ${networkOf(request.ip)}`, reply);
      const { token, assertion } = request.body;
      return passkeyToJson(await links.sign(token, assertion, request.id));
    },
  );
}
