/** /platform/approval-rules: which steps need a second person in the workspace. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { sendNeedsApproval } from '../../http/api/approval-answer.ts';
import { named } from '../../runtime/schemas.ts';
import {
  type ApprovalRules,
  changeApprovalRules,
  countDeciders,
  readApprovalRules,
} from './approval-rules.ts';
import type { DefineStep } from './steps.ts';

const rules = {
  eraseContent: Type.Boolean({
    examples: [true],
    description:
      'Erasing the data of records and the content of files, a retention that erases sooner than before, and a transfer of a file to a vault whose retention does',
  }),
  transfer: Type.Boolean({ examples: [true], description: 'Transferring a file or an asset' }),
  wideKeys: Type.Boolean({
    examples: [true],
    description:
      'Creating an API key that can do more than read: with another scope than those that end in `:read`, or without named scopes',
  }),
  expiresAfterHours: Type.Integer({
    minimum: 1,
    maximum: 720,
    examples: [72],
    description: 'How long a second person can approve what is asked for from now on',
  }),
};
const RulesSchema = named(
  { title: 'ApprovalRules', description: 'Which steps need a second person in the workspace' },
  Type.Object({
    ...rules,
    deciders: Type.Integer({
      examples: [2],
      description: 'How many people have the role admin or owner; a rule can be turned on when there are two',
    }),
  }),
);
const url = `${apiBase}/platform/approval-rules`;
const tags = ['approvals'];

export function approvalRulesRoutes(app: Api, { db, define }: { db: Db; define: DefineStep }): void {
  const change = define<Partial<ApprovalRules>, ApprovalRules>('approval_rules.change', changeApprovalRules);
  const withDeciders = async (workspaceId: string, rules: ApprovalRules) => ({
    ...rules,
    deciders: await countDeciders(db, workspaceId),
  });

  app.get(
    url,
    {
      config: { role: 'viewer' },
      schema: {
        operationId: 'getApprovalRules',
        summary: 'Get the rules for approvals',
        tags,
        response: { 200: RulesSchema },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      return withDeciders(workspaceId, await readApprovalRules(db, workspaceId));
    },
  );

  app.put(
    url,
    {
      config: { role: 'admin', freshSession: true, mayNeedApproval: true },
      schema: {
        operationId: 'updateApprovalRules',
        summary: 'Change the rules for approvals',
        description:
          'What is left out stays as it is. A rule that is turned on holds from the next request on, for people and API keys alike; 409 while there are not two people with the role admin or owner. Turning one off needs a second person itself. Requests that already wait stay as they are.',
        tags,
        body: Type.Partial(Type.Object(rules), { additionalProperties: false }),
        response: { 200: RulesSchema },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { done, asked } = await change(caller, request.body);
      return asked ? sendNeedsApproval(reply, asked) : withDeciders(caller.workspaceId, done);
    },
  );
}
