/** /platform/vaults/{vaultAddress}/retention */
import { Type } from 'typebox';
import type { TakeStep } from '../../access/approvals/steps.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { sendNeedsApproval } from '../../http/api/approval-answer.ts';
import { address, named, orNull } from '../../runtime/schemas.ts';
import type { Retention, RetentionInput, RetentionRules } from './retention.ts';

const days = (of: string) =>
  orNull(
    Type.Integer({
      minimum: 1,
      maximum: 36_500,
      examples: [3650],
      description: `${of} is erased this many days after its newest version was created; null: kept for ever`,
    }),
  );
const periods = {
  recordDays: days('The data of a record'),
  fileDays: days('The content of a file'),
};
const wanted = Type.Integer({ minimum: 1, maximum: 36_500, description: 'Absent: kept for ever' });
const RetentionSchema = named(
  { title: 'Retention', description: 'How long a vault keeps data and content' },
  Type.Object({
    ...periods,
    erased: Type.Integer({ examples: [12], description: 'Records and files that retention erased so far' }),
    erasedBytes: Type.Integer({ examples: [4096], description: 'Bytes that it freed so far' }),
  }),
);
const PreviewSchema = named(
  { title: 'RetentionPreview', description: 'What the retention of a vault would erase now' },
  Type.Object({
    records: Type.Integer({ examples: [12] }),
    files: Type.Integer({ examples: [1] }),
    bytes: Type.Integer({
      examples: [4096],
      description: 'Freed at most: bytes that another file needs are kept',
    }),
    held: Type.Integer({
      examples: [2],
      description: 'Records and files that are old enough but kept: by a legal hold, or by a release',
    }),
    more: Type.Boolean({ description: 'The figures are of the oldest 10,000 only' }),
  }),
);
const url = `${apiBase}/platform/vaults/:vaultAddress/retention`;
const params = Type.Object({ vaultAddress: address });
const tags = ['erasure'];

export interface RetentionRoutesDeps {
  retention: RetentionRules;
  setRetention: TakeStep<RetentionInput, Retention>;
}

export function retentionRoutes(app: Api, { retention, setRetention }: RetentionRoutesDeps): void {
  app.get(
    url,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'getRetention',
        summary: 'Get the retention of a vault',
        tags,
        params,
        response: { 200: RetentionSchema },
      },
    },
    async (request) => retention.get(callerOf(request).workspaceId, request.params.vaultAddress),
  );

  app.put(
    url,
    {
      config: { scope: 'vaults:write', freshSession: true, mayNeedApproval: true },
      schema: {
        operationId: 'putRetention',
        summary: 'Set the retention of a vault',
        description:
          'What is older is erased within about an hour, and so is what becomes older later. Hashes and proofs remain. What is held is not erased until the hold is released, nor are files that are attached to a certified maintenance entry. GET …/retention/preview tells what a period would erase.',
        tags,
        params,
        body: Type.Object(periods, { additionalProperties: false }),
        response: { 200: RetentionSchema },
      },
    },
    async (request, reply) => {
      const { done, asked } = await setRetention(callerOf(request), { ...request.params, ...request.body });
      return asked ? sendNeedsApproval(reply, asked) : done;
    },
  );

  app.get(
    `${url}/preview`,
    {
      config: { scope: 'vaults:read' },
      schema: {
        operationId: 'previewRetention',
        summary: 'Preview the retention of a vault',
        description: 'What these periods would erase now. Nothing is erased.',
        tags,
        params,
        querystring: Type.Object(
          { recordDays: Type.Optional(wanted), fileDays: Type.Optional(wanted) },
          { additionalProperties: false },
        ),
        response: { 200: PreviewSchema },
      },
    },
    async (request) =>
      retention.preview(callerOf(request).workspaceId, request.params.vaultAddress, {
        recordDays: request.query.recordDays ?? null,
        fileDays: request.query.fileDays ?? null,
      }),
  );
}
