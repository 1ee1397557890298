/** /damc/signoffs/rules/: in which roles only a passkey or a key of the worker's own counts. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { named } from '../../runtime/schemas.ts';
import { role } from '../entries/entry-signoffs.routes.ts';
import { changeOwnKeyRoles, readOwnKeyRoles } from './signoff-rules.store.ts';

const ownKey = Type.Array(role, {
  uniqueItems: true,
  maxItems: 3,
  description:
    'Roles in which the service does not sign for workers: they need a passkey or a key of their own',
  examples: [['inspected', 'certified']],
});
const RulesSchema = named(
  { title: 'SignoffRules', description: 'What a workspace requires of sign-offs' },
  Type.Object({ ownKey }),
);

const url = `${apiBase}/damc/signoffs/rules/`;
const tags = ['maintenances'];

export interface SignoffRulesRoutesDeps {
  db: Db;
}

export function signoffRulesRoutes(app: Api, { db }: SignoffRulesRoutesDeps): void {
  app.get(
    url,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'getSignoffRules',
        summary: 'Get the rules for sign-offs',
        tags,
        response: { 200: RulesSchema },
      },
    },
    async (request) => ({ ownKey: await readOwnKeyRoles(db, callerOf(request).workspaceId) }),
  );

  app.put(
    url,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'changeSignoffRules',
        summary: 'Change the rules for sign-offs',
        description: 'Sign-offs that exist are not affected.',
        tags,
        body: Type.Object({ ownKey }, { additionalProperties: false }),
        response: { 200: RulesSchema },
      },
    },
    async (request) => ({
      ownKey: await changeOwnKeyRoles(db, callerOf(request), request.body.ownKey),
    }),
  );
}
