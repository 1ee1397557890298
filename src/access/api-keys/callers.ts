/** Who makes a request: the holder of an API key, or a signed-in member. */
import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Actor, type Caller, type Role, type Scope, scopes } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { isGone } from '../accounts/signs-in-here.ts';
import { roleNow } from '../people/members.ts';
import type { SignIn } from '../people/sign-in.ts';
import type { ApiKeys } from './api-keys.ts';

export interface Callers {
  /** Null when the request has neither a valid key nor a session. */
  find(headers: IncomingHttpHeaders, requestId: string): Promise<Caller | null>;
}

export interface CallersDeps {
  db: Db;
  apiKeys: Pick<ApiKeys, 'findCaller'>;
  signIn: Pick<SignIn, 'find'>;
}

/** The workspace in which a person acts; by default the one they joined first. */
export const workspaceHeader = 'x-workspace-id';

export function createCallers({ db, apiKeys, signIn }: CallersDeps): Callers {
  async function findPerson(
    cookies: string,
    workspaceId: string | undefined,
    requestId: string,
  ): Promise<Caller | null> {
    const session = await signIn.find(cookies);
    if (!session) return null;
    const { userId, sessionId, isFresh, hasSecondFactor } = session;
    let select = db
      .selectFrom('members as m')
      .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
      .select(['m.workspace_id', 'm.role', 'w.limits', 'w.require_second_factor'])
      .where('m.user_id', '=', userId);
    if (workspaceId !== undefined) select = select.where('m.workspace_id', '=', workspaceId);
    const member = await select.orderBy('m.created_at').orderBy('m.workspace_id').limit(1).executeTakeFirst();
    if (!member) {
      throw new AppError(
        'forbidden',
        workspaceId === undefined
          ? 'You are not a member of any workspace. Ask an owner for an invitation.'
          : 'You are not a member of the workspace in X-Workspace-Id.',
      );
    }
    const { workspace_id, role, limits, require_second_factor } = member;
    const lacksSecondFactor = require_second_factor && !hasSecondFactor;
    return {
      workspaceId: workspace_id,
      actor: { kind: 'user', id: userId },
      scopes: scopesOf(role),
      requestId,
      limits,
      person: { userId, sessionId, role, isFresh, hasSecondFactor, lacksSecondFactor },
    };
  }

  return {
    find(headers, requestId) {
      const apiKey = headers['x-api-key'];
      // A key takes precedence even if it is wrong, so that nobody acts as somebody else by accident.
      if (apiKey !== undefined) return apiKeys.findCaller(String(apiKey), requestId);
      if (headers.cookie === undefined) return nobody;
      const workspaceId = headers[workspaceHeader];
      return findPerson(
        headers.cookie,
        workspaceId === undefined ? undefined : String(workspaceId),
        requestId,
      );
    },
  };
}

const nobody = Promise.resolve(null);

/**
 * Who made a request earlier, with the rights of this moment, which remain until the transaction ends. Null: a key that is
 * revoked or expired, or a person who has left, or for whom the identity provider no longer vouches.
 */
export async function findActor(db: Db, workspaceId: string, actor: Actor): Promise<Caller | null> {
  if (actor.kind === 'api_key') {
    const key = await db
      .selectFrom('api_keys')
      .select(['scopes', 'expires_at'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', actor.id)
      .where('revoked_at', 'is', null)
      .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', sql<Date>`now()`)]))
      .forShare()
      .executeTakeFirst();
    if (!key) return null;
    const scopes = key.scopes as Scope[];
    return { workspaceId, actor, scopes, requestId: null, expiresAt: key.expires_at };
  }
  const role = await roleNow(db, workspaceId, actor.id);
  if (role === null || (await isGone(db, actor.id))) return null;
  // Without a session: what that had to show was asked for when the request was made.
  const shown = { sessionId: '', isFresh: true, hasSecondFactor: true, lacksSecondFactor: false };
  const person = { userId: actor.id, role, ...shown };
  return { workspaceId, actor, scopes: scopesOf(role), requestId: null, person };
}

/** A developer may do everything except manage people; a viewer may read everything except keys. Empty: all scopes. */
function scopesOf(role: Role): readonly Scope[] {
  return role === 'viewer' ? viewerScopes : [];
}

const viewerScopes = scopes.filter((scope) => scope.endsWith(':read') && scope !== 'keys:read');
