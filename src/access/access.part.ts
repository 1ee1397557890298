/** The part of the service that decides who may do what: API keys, people, workspaces, and the audit log. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { FindCaller } from '../http/admission/authentication.ts';
import { createRateLimiter } from '../http/admission/rate-limit.ts';
import type { Part } from '../http/api/part.ts';
import type { Keyring } from '../keys/keyring.ts';
import { openServiceSecret } from '../keys/service-secret.ts';
import type { Changes } from '../runtime/loop.ts';
import { apiKeyUseLoop } from './api-keys/api-key-use.loop.ts';
import { apiKeyRoutes } from './api-keys/api-keys.routes.ts';
import { createApiKeys, findMaker } from './api-keys/api-keys.ts';
import { createCallers, findActor } from './api-keys/callers.ts';
import { ensureFirstKey } from './api-keys/first-start.ts';
import { createKeyStep } from './api-keys/wide-keys.ts';
import { approvalRulesRoutes } from './approvals/approval-rules.routes.ts';
import { approvalsLoop } from './approvals/approvals.loop.ts';
import { approvalRoutes } from './approvals/approvals.routes.ts';
import { createApprovals } from './approvals/approvals.ts';
import type { DefineStep } from './approvals/steps.ts';
import { auditRoutes } from './audit/audit.routes.ts';
import { auditChainLoop } from './audit/audit-chain.loop.ts';
import { passkeyRoutes } from './passkeys/passkeys.routes.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { confirmationRoutes } from './people/confirmation.routes.ts';
import { invitationLink, invitationRoutes } from './people/invitations.routes.ts';
import { createInvitations } from './people/invitations.ts';
import { createMembers } from './people/members.ts';
import { createPasswordRules } from './people/password-rules.ts';
import { peopleRoutes } from './people/people.routes.ts';
import { peopleUpkeepLoop } from './people/people-upkeep.loop.ts';
import { createSessions } from './people/sessions.ts';
import { signInRoutes } from './people/sign-in.routes.ts';
import { createSignIn } from './people/sign-in.ts';
import { createSignInEffects } from './people/sign-in-effects.ts';
import { signInRulesRoutes } from './people/sign-in-rules.routes.ts';
import { createSignInThrottle } from './people/sign-in-throttle.ts';
import { openProvider } from './provider/open-provider.ts';
import { providerRoutes } from './provider/provider.routes.ts';

export interface Access extends Part {
  findCaller: FindCaller;
  /** For steps that can need a second person. */
  defineStep: DefineStep;
  /** The first API key, created if the default workspace never had one: to be shown once. */
  makeFirstKey(): Promise<string | null>;
  /** A link that creates the first owner; null once there is one. */
  makeOwnerLink(): Promise<string | null>;
}

export type AccessConfig = Pick<Config, 'workspaceCreation' | 'signIn' | 'webhooks'>;

export interface AccessDeps {
  db: Db;
  pool: Pool;
  keyring: Keyring;
  /** Correct only once the server listens. */
  publicUrl(): string;
  changes: Changes;
  log: Logger;
}

export async function createAccess(
  { workspaceCreation, signIn: { provider: providerConfig, leakedPasswords }, webhooks }: AccessConfig,
  { db, pool, keyring, publicUrl, changes, log }: AccessDeps,
): Promise<Access> {
  const apiKeys = createApiKeys({ db, pool });
  const approvals = createApprovals({ db, keyring, findActor, findMaker });
  const provider =
    providerConfig &&
    openProvider({
      ...{ db, log },
      config: providerConfig,
      allow: webhooks.allow,
      secret: await openServiceSecret(db, keyring, 'provider-tokens'),
    });
  const sessionSecret = await openServiceSecret(db, keyring, 'sessions');
  const signIn = createSignIn({
    ...{ db, publicUrl },
    secret: sessionSecret,
    // Without a provider, nobody vouches for its sessions.
    mayGoOn: async (sessionId, age) => (provider ? provider.sessions.mayGoOn(sessionId, age) : false),
  });
  const passwordRules = createPasswordRules({ leakedPasswords });
  const invitations = createInvitations(db, {
    passwordRules,
    askAbout: async (userId) => provider?.sessions.askAbout(userId),
  });
  return {
    defineStep: approvals.define,
    findCaller: createCallers({ db, apiKeys, signIn }).find,
    makeFirstKey: () => ensureFirstKey(db, apiKeys),
    async makeOwnerLink() {
      const token = await invitations.forFirstOwner();
      return token && invitationLink(publicUrl(), token);
    },
    nodeLoops: [apiKeyUseLoop(apiKeys)],
    loops: [auditChainLoop(db, changes), peopleUpkeepLoop(db), approvalsLoop(db)],
    routes(app, shell) {
      apiKeyRoutes(app, { ...shell, apiKeys, createKey: createKeyStep(approvals.define, apiKeys) });
      approvalRoutes(app, { ...shell, approvals });
      approvalRulesRoutes(app, { db, define: approvals.define });
      auditRoutes(app, { ...shell, db });
      const signInThrottle = createSignInThrottle(db);
      // Whatever HOLDFAST_RATE_LIMIT says: these are for strangers.
      const beginnings = createRateLimiter({ requests: 60, windowSeconds: 60 });
      confirmationRoutes(app, { db, signIn, signInThrottle, publicUrl });
      passkeyRoutes(app, {
        ...{ db, signIn, signInThrottle, beginnings, publicUrl },
        passkeys: createPasskeys(db, sessionSecret),
      });
      providerRoutes(app, { db, signIn, provider, beginnings, publicUrl });
      signInRoutes(app, {
        signIn,
        signInThrottle,
        passwordRules,
        signInEffects: createSignInEffects(db),
        publicUrl,
      });
      peopleRoutes(app, {
        ...{ db, members: createMembers(db), sessions: createSessions(db), workspaceCreation },
        issuer: providerConfig?.issuer ?? null,
      });
      signInRulesRoutes(app, { db });
      invitationRoutes(app, { invitations, signIn, publicUrl });
    },
    async close() {
      await provider?.close();
      await apiKeys
        .saveLastUsed()
        .catch((error) => log.error({ err: error }, 'could not save the last use of API keys'));
    },
  };
}
