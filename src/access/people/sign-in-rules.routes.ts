/** /platform/sign-in-rules: what the workspace asks of the sign-in of its members */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { named } from '../../runtime/schemas.ts';
import { readSignInRules, saveSignInRules } from './sign-in-rules.ts';

const requireSecondFactor = Type.Boolean({
  description:
    'Whether only sessions with a passkey, a two-factor code or the identity provider may act in the workspace',
  examples: [true],
});
const RulesSchema = named(
  { title: 'SignInRules', description: 'What the workspace asks of the sign-in of its members' },
  Type.Object({ requireSecondFactor }),
);

const url = `${apiBase}/platform/sign-in-rules`;
const tags = ['people'];

export function signInRulesRoutes(app: Api, { db }: { db: Db }): void {
  app.get(
    url,
    {
      config: { role: 'viewer', withoutSecondFactor: true },
      schema: {
        operationId: 'getSignInRules',
        summary: 'Get the rules for signing in',
        tags,
        response: { 200: RulesSchema },
      },
    },
    async (request) => readSignInRules(db, callerOf(request).workspaceId),
  );

  app.put(
    url,
    {
      config: { role: 'owner', freshSession: true },
      schema: {
        operationId: 'updateSignInRules',
        summary: 'Change the rules for signing in',
        description:
          'Takes effect with the next request of each member. Whoever lacks a second factor can still set one up, and then goes on. API keys are not affected.',
        tags,
        body: Type.Object({ requireSecondFactor }, { additionalProperties: false }),
        response: { 200: RulesSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const hasSecondFactor = caller.person?.hasSecondFactor ?? false;
      return saveSignInRules(db, caller, { ...request.body, hasSecondFactor });
    },
  );
}
