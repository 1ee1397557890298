/** /platform/invitations: links for becoming a member. */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import { requireSameOrigin } from '../../http/admission/same-origin.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { roles } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { dateTime, like, name, named, orNull, sample, text } from '../../runtime/schemas.ts';
import type { Invitation, Invitations, OpenInvitation } from './invitations.ts';
import { passwordLength } from './password.ts';
import { RoleSchema, samplePerson } from './people.routes.ts';
import type { SignIn } from './sign-in.ts';

const sampleEmail = 'jonas@example.com';
const sampleToken = 'YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu';

const email = text(sampleEmail, {
  maxLength: 254,
  // No more than the sign-in library accepts: everybody who joins must be able to sign in.
  pattern: "^[A-Za-z0-9_+-]+([.'][A-Za-z0-9_+-]+)*@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}$",
  description: 'An email address',
});
const token = text(sampleToken, { minLength: 1, maxLength: 100, description: 'The token from the link' });

const invitationFields = {
  id: text(sample.invitationId),
  email: orNull(text(sampleEmail, { description: 'Null if anyone with the link can accept' })),
  role: RoleSchema,
  status: Type.String({ enum: ['open', 'expired'] }),
  expiresAt: like(dateTime, '2026-03-09T08:10:00.000Z'),
  createdAt: like(dateTime, '2026-03-02T08:10:00.000Z'),
};
const InvitationSchema = named(
  { title: 'Invitation', description: 'An invitation to the workspace' },
  Type.Object(invitationFields),
);
const CreatedInvitationSchema = named(
  { title: 'CreatedInvitation', description: 'The new invitation with its link, which is shown only once' },
  Type.Object({
    ...invitationFields,
    link: text(invitationLink('https://holdfast.example.com', sampleToken)),
  }),
);
const LookSchema = named(
  { title: 'InvitationPreview', description: 'What an invitation is for' },
  Type.Object({
    workspaceId: text(sample.workspaceId),
    workspaceName: text(samplePerson.workspaceName),
    email: orNull(text(sampleEmail)),
    role: RoleSchema,
    newAccount: orNull(
      Type.Boolean({
        description: 'Whether the email has no account yet; null if no email is set',
        examples: [true],
      }),
    ),
  }),
);

/** Tokens cannot be guessed; this only stops futile attempts. */
const lookLimit = { requests: 30, windowSeconds: 60 };
const url = `${apiBase}/platform/invitations`;
const tags = ['people'];

export interface InvitationRoutesDeps {
  invitations: Invitations;
  signIn: Pick<SignIn, 'find'>;
  publicUrl(): string;
}

export function invitationRoutes(app: Api, { invitations, signIn, publicUrl }: InvitationRoutesDeps): void {
  const limiter = createRateLimiter(lookLimit);

  app.post(
    url,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'createInvitation',
        summary: 'Create an invitation',
        description: 'The response contains the link, which is shown only once. It is valid for seven days.',
        tags,
        body: Type.Object({ email: Type.Optional(email), role: RoleSchema }, { additionalProperties: false }),
        response: { 201: CreatedInvitationSchema },
      },
    },
    async (request, reply) => {
      const role = roles.find((role) => role === request.body.role) ?? 'viewer';
      const made = await invitations.create(callerOf(request), { email: request.body.email ?? null, role });
      return reply
        .code(201)
        .send({ ...toJson(made.invitation), link: invitationLink(publicUrl(), made.token) });
    },
  );

  app.get(
    url,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'listInvitations',
        summary: 'List invitations',
        description:
          'Newest first: open invitations, and those that expired in the last 90 days unless they were withdrawn.',
        tags,
        response: { 200: Type.Array(InvitationSchema) },
      },
    },
    async (request) => (await invitations.list(callerOf(request).workspaceId)).map(toJson),
  );

  app.delete(
    `${url}/:invitationId`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'withdrawInvitation',
        summary: 'Withdraw an invitation',
        tags,
        params: Type.Object({ invitationId: text(sample.invitationId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await invitations.revoke(callerOf(request), request.params.invitationId);
      return reply.code(204).send(null);
    },
  );

  app.post(
    `${url}/look`,
    {
      config: { secretAnswer: true },
      schema: {
        operationId: 'lookUpInvitation',
        summary: 'Look up an invitation',
        description: 'Open to anyone with the link.',
        tags,
        body: Type.Object({ token }, { additionalProperties: false }),
        response: { 200: LookSchema },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      return lookJson(await invitations.look(request.body.token));
    },
  );

  app.post(
    `${url}/accept`,
    {
      config: { secretAnswer: true },
      onRequest: async (request) => requireSameOrigin(request, publicUrl()),
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation',
        description:
          'If you are signed in, the token alone makes you a member. Otherwise send name, email and password to create your account, then sign in.',
        tags,
        body: Type.Object(
          {
            token,
            name: Type.Optional(like(name, 'Jonas Weber')),
            email: Type.Optional(email),
            password: Type.Optional(
              text('the tide waits for nobody', {
                minLength: passwordLength.min,
                maxLength: passwordLength.max,
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: LookSchema },
      },
    },
    async (request, reply) => {
      limiter.countAddress(request.ip, reply);
      const { token, name, email, password } = request.body;
      if (name !== undefined && email !== undefined && password !== undefined) {
        return lookJson(await invitations.acceptAsNew(token, { name, email, password }, request.id));
      }
      const session = await signIn.find(request.headers.cookie ?? '');
      if (session) return lookJson(await invitations.acceptAs(token, session.userId, request.id));
      throw new AppError(
        'invalid_request',
        'name, email and password are required unless you are signed in.',
      );
    },
  );
}

/** In the fragment, so that the secret reaches no log on the way. */
export function invitationLink(publicUrl: string, token: string): string {
  return `${publicUrl}/join#${token}`;
}

function toJson({ createdAt, expiresAt, ...rest }: Invitation) {
  return { ...rest, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}

function lookJson({ workspaceId, workspaceName, email, role, newAccount }: OpenInvitation) {
  return { workspaceId, workspaceName, email, role, newAccount };
}
