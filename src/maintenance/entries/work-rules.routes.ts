/** /damc/signoffs/rules/work/ and /damc/assets/{assetId}/rules/: what sign-offs need, by the type of work. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { named, plainText, sample, text } from '../../runtime/schemas.ts';
import { visible } from '../../runtime/visible-text.ts';
import { findAsset } from '../assets/assets.store.ts';
import { sampleEntry, sampleLicence, sampleWork } from '../signing/sample-work.ts';
import { changeWorkRules, mostWorkRules, readWorkRules } from './work-rules.store.ts';

const Rule = Type.Object(
  {
    type: plainText({
      minLength: 1,
      maxLength: 100,
      pattern: visible,
      description: 'The type of work, in any case; `*` for every type that has no rule of its own',
      examples: [sampleWork.type],
    }),
    scope: plainText({
      minLength: 1,
      maxLength: 200,
      pattern: visible,
      description: 'The licence scope that inspecting and certifying need',
      examples: [sampleLicence.scope],
    }),
    categories: Type.Array(plainText({ minLength: 1, maxLength: 50, pattern: visible }), {
      maxItems: 20,
      uniqueItems: true,
      description: 'The licence has one of these categories; empty for any',
      examples: [sampleEntry.requires?.categories],
    }),
    critical: Type.Boolean({
      description: 'Whether somebody has to inspect the work who neither performed it nor certifies it',
      examples: [true],
    }),
  },
  { additionalProperties: false },
);
const rules = Type.Array(Rule, { maxItems: mostWorkRules });
const RulesSchema = named(
  { title: 'WorkRules', description: 'What sign-offs need, by the type of work' },
  Type.Object({ rules }),
);
const body = Type.Object({ rules }, { additionalProperties: false });
const tags = ['maintenances'];
const read = { scope: 'assets:read' } as const;
const change = { role: 'admin', freshSession: true } as const;
const assetPath = Type.Object({ assetId: text(sample.assetId) });

const url = `${apiBase}/damc/signoffs/rules/work/`;
const assetUrl = `${apiBase}/damc/assets/:assetId/rules/`;

export function workRulesRoutes(app: Api, { db }: { db: Db }): void {
  app.get(
    url,
    {
      config: read,
      schema: {
        operationId: 'getWorkRules',
        summary: 'Get the rules for types of work',
        tags,
        response: { 200: RulesSchema },
      },
    },
    async (request) => ({ rules: await readWorkRules(db, callerOf(request).workspaceId, null) }),
  );

  app.put(
    url,
    {
      config: change,
      schema: {
        operationId: 'changeWorkRules',
        summary: 'Change the rules for types of work',
        description: 'Replaces all of them. Entries that exist keep the rule under which they were recorded.',
        tags,
        body,
        response: { 200: RulesSchema },
      },
    },
    async (request) => ({
      rules: await changeWorkRules(db, callerOf(request), { assetId: null, ...request.body }),
    }),
  );

  app.get(
    assetUrl,
    {
      config: read,
      schema: {
        operationId: 'getAssetWorkRules',
        summary: 'Get the rules of an asset',
        tags,
        params: assetPath,
        response: { 200: RulesSchema },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      const { assetId } = await findAsset(db, { workspaceId, ...request.params });
      return { rules: await readWorkRules(db, workspaceId, assetId) };
    },
  );

  app.put(
    assetUrl,
    {
      config: change,
      schema: {
        operationId: 'changeAssetWorkRules',
        summary: 'Change the rules of an asset',
        description: 'Replaces all of them. They come before those of the workspace.',
        tags,
        params: assetPath,
        body,
        response: { 200: RulesSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { workspaceId } = caller;
      const { assetId } = await findAsset(db, { workspaceId, ...request.params });
      return { rules: await changeWorkRules(db, caller, { assetId, ...request.body }) };
    },
  );
}
