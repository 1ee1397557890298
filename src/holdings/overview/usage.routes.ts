/** /platform/usage */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { budgetNames } from '../../runtime/budgets.ts';
import { dateTime, named, orNull, text } from '../../runtime/schemas.ts';
import type { ReadUsage } from './usage.ts';

const UsageSchema = named(
  { title: 'Usage', description: 'The budgets of the workspace, and what is used of each' },
  Type.Object({
    budgets: Type.Array(
      Type.Object({
        name: Type.String({ enum: [...budgetNames] }),
        limit: orNull(Type.Integer({ description: 'Null: no limit', examples: [60_000] })),
        used: Type.Integer({ examples: [412] }),
        resetsAt: orNull(
          text('2026-03-02T09:01:00.000Z', {
            ...dateTime,
            description:
              'When a budget of a minute or a day begins anew; null for amounts, and while nothing of a minute is used',
          }),
        ),
        perNode: Type.Boolean({
          description: 'Counted on the node that answers, and not for the whole installation',
          examples: [true],
        }),
      }),
    ),
  }),
);

export function usageRoutes(app: Api, { readUsage }: { readUsage: ReadUsage }): void {
  app.get(
    `${apiBase}/platform/usage`,
    {
      config: { scope: 'events:read' },
      schema: {
        operationId: 'getUsage',
        summary: 'Get budgets and usage',
        description:
          'Beyond a rate (requests_per_minute) requests get 429 rate_limited with Retry-After; beyond any other budget what would need more gets 403 budget_exceeded. The header X-Budget of such an answer names the budget.',
        tags: ['operations'],
        response: { 200: UsageSchema },
      },
    },
    async (request) => {
      const budgets = await readUsage(callerOf(request));
      return {
        budgets: budgets.map(({ resetsAt, ...budget }) => ({
          ...budget,
          resetsAt: resetsAt?.toISOString() ?? null,
        })),
      };
    },
  );
}
