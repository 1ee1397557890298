/** /platform/me, /platform/workspaces, /platform/members and /platform/sessions: for people, not for keys. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { type Caller, type Person, roles } from '../../runtime/caller.ts';
import { dateTime, like, name, named, orNull, sample, text } from '../../runtime/schemas.ts';
import { findWays, ways } from '../accounts/signs-in-here.ts';
import { createWorkspaceAs, listWorkspacesOf } from '../workspaces/workspaces.ts';
import { findUser, type Member, type Members } from './members.ts';
import { mayCreateWorkspaces, noWorkspaceCreation, type WorkspaceCreation } from './operators.ts';
import type { Session, Sessions } from './sessions.ts';

export const RoleSchema = Type.String({ enum: [...roles], examples: ['developer'] });

/** The person in the examples. */
export const samplePerson = {
  name: 'Mira Castellanos',
  email: 'mira@example.com',
  workspaceName: 'Northport Terminal',
  slug: 'northport-terminal',
};

const WorkspaceSchema = named(
  { title: 'Workspace', description: 'A workspace' },
  Type.Object({
    id: text(sample.workspaceId),
    name: text(samplePerson.workspaceName),
    slug: text(samplePerson.slug),
    role: like(RoleSchema, 'owner'),
  }),
);

const MeSchema = named(
  { title: 'Me', description: 'The person who is signed in, and the workspaces they belong to' },
  Type.Object({
    id: text(sample.userId),
    name: text(samplePerson.name),
    email: text(samplePerson.email),
    twoFactor: Type.Boolean({ examples: [true] }),
    workspaceId: text(sample.workspaceId, { description: 'The workspace that this request acts in' }),
    role: like(RoleSchema, 'owner'),
    workspaces: Type.Array(WorkspaceSchema),
    provedBy: Type.Array(Type.String({ enum: [...ways] }), {
      description:
        'By what you can prove who you are. With `provider`, the identity provider decides about your account',
      examples: [['password', 'passkey']],
    }),
    lacksSecondFactor: Type.Boolean({
      description:
        'Whether the workspace requires a second factor that this session has not used; until then it refuses nearly everything',
      examples: [false],
    }),
    mayCreateWorkspaces: Type.Boolean({
      description: 'Whether this person may create workspaces',
      examples: [true],
    }),
  }),
);

const MemberSchema = named(
  { title: 'Member', description: 'A member of the workspace' },
  Type.Object({
    id: text(sample.userId),
    name: text(samplePerson.name),
    email: text(samplePerson.email),
    role: like(RoleSchema, 'owner'),
    twoFactor: Type.Boolean({ examples: [true] }),
    joinedAt: like(dateTime, '2026-03-02T08:00:00.000Z'),
  }),
);

const SessionSchema = named(
  { title: 'Session', description: 'A browser in which you are signed in' },
  Type.Object({
    id: text(sample.sessionId),
    current: Type.Boolean({ description: 'Whether this is the session of the request', examples: [true] }),
    address: orNull(text('203.0.113.7')),
    userAgent: orNull(text('Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0')),
    createdAt: like(dateTime, '2026-03-02T08:20:00.000Z'),
    lastSeenAt: dateTime,
    expiresAt: like(dateTime, '2026-03-09T08:20:00.000Z'),
  }),
);

const memberPath = Type.Object({ memberId: text(sample.userId) });
const tags = ['people'];

export interface PeopleRoutesDeps {
  db: Db;
  members: Members;
  sessions: Sessions;
  workspaceCreation: WorkspaceCreation;
  /** Of the identity provider; null: there is none. */
  issuer: string | null;
}

export function peopleRoutes(app: Api, deps: PeopleRoutesDeps): void {
  const { db, members, sessions, workspaceCreation, issuer } = deps;
  app.get(
    `${apiBase}/platform/me`,
    {
      config: { role: 'viewer', withoutSecondFactor: true },
      schema: {
        operationId: 'getMe',
        summary: 'Get the person who is signed in',
        tags,
        response: { 200: MeSchema },
      },
    },
    async (request) => {
      const { caller, person } = personOf(callerOf(request));
      return {
        ...(await findUser(db, person.userId)),
        workspaceId: caller.workspaceId,
        role: person.role,
        workspaces: await listWorkspacesOf(db, person.userId),
        provedBy: await findWays(db, person.userId, issuer),
        lacksSecondFactor: person.lacksSecondFactor,
        mayCreateWorkspaces: await mayCreateWorkspaces(db, caller, workspaceCreation),
      };
    },
  );

  app.post(
    `${apiBase}/platform/workspaces`,
    {
      config: { role: 'viewer', freshSession: false },
      schema: {
        operationId: 'createWorkspace',
        summary: 'Create a workspace',
        description:
          'You become its first owner. Only operators may create workspaces, that is, owners and admins of the first workspace of the installation. With HOLDFAST_WORKSPACE_CREATION=everyone, everyone who is signed in may.',
        tags,
        body: Type.Object({ name: like(name, samplePerson.workspaceName) }, { additionalProperties: false }),
        response: { 201: WorkspaceSchema },
      },
    },
    async (request, reply) => {
      const { person, caller } = personOf(callerOf(request));
      if (!(await mayCreateWorkspaces(db, caller, workspaceCreation))) throw noWorkspaceCreation();
      const workspace = await createWorkspaceAs(db, caller, { userId: person.userId, ...request.body });
      return reply.code(201).send({ ...workspace, role: 'owner' });
    },
  );

  app.get(
    `${apiBase}/platform/members`,
    {
      config: { role: 'viewer' },
      schema: {
        operationId: 'listMembers',
        summary: 'List members',
        tags,
        response: { 200: Type.Array(MemberSchema) },
      },
    },
    async (request) => (await members.list(callerOf(request).workspaceId)).map(memberJson),
  );

  app.patch(
    `${apiBase}/platform/members/:memberId`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'updateMember',
        summary: "Change a member's role",
        tags,
        params: memberPath,
        body: Type.Object({ role: RoleSchema }, { additionalProperties: false }),
        response: { 200: like(MemberSchema, { role: 'developer' }) },
      },
    },
    async (request) => {
      const role = roles.find((role) => role === request.body.role) ?? 'viewer';
      return memberJson(await members.changeRole(callerOf(request), request.params.memberId, role));
    },
  );

  app.delete(
    `${apiBase}/platform/members/:memberId`,
    {
      config: { role: 'viewer', freshSession: true },
      schema: {
        operationId: 'removeMember',
        summary: 'Remove a member, or leave the workspace',
        tags,
        params: memberPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await members.remove(callerOf(request), request.params.memberId);
      return reply.code(204).send(null);
    },
  );

  app.get(
    `${apiBase}/platform/sessions`,
    {
      config: { role: 'viewer', withoutSecondFactor: true },
      schema: {
        operationId: 'listSessions',
        summary: 'List your sessions',
        tags,
        response: { 200: Type.Array(SessionSchema) },
      },
    },
    async (request) => (await sessions.list(personOf(callerOf(request)).person)).map(sessionJson),
  );

  app.delete(
    `${apiBase}/platform/sessions`,
    {
      config: { role: 'viewer', withoutSecondFactor: true, freshSession: false },
      schema: {
        operationId: 'endAllSessions',
        summary: 'Sign out everywhere',
        tags,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { caller, person } = personOf(callerOf(request));
      await sessions.endAll(caller, person);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    `${apiBase}/platform/sessions/:sessionId`,
    {
      config: { role: 'viewer', withoutSecondFactor: true, freshSession: false },
      schema: {
        operationId: 'endSession',
        summary: 'End one of your sessions',
        tags,
        params: Type.Object({ sessionId: text(sample.sessionId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { caller, person } = personOf(callerOf(request));
      await sessions.end(caller, person, request.params.sessionId);
      return reply.code(204).send(null);
    },
  );
}

function personOf(caller: Caller): { caller: Caller; person: Person } {
  if (!caller.person) throw new Error('a route for people was passed by somebody else');
  return { caller, person: caller.person };
}

function memberJson({ userId, joinedAt, ...rest }: Member) {
  return { id: userId, ...rest, joinedAt: joinedAt.toISOString() };
}

function sessionJson({ createdAt, lastSeenAt, expiresAt, ...rest }: Session) {
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
