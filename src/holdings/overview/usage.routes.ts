/** /platform/usage */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { budgetNames } from '../../runtime/budgets.ts';
import { dateTime, named, orNull, text } from '../../runtime/schemas.ts';
import type { ReadUsage } from './usage.ts';

const UsageSchema = named(
  { title: 'Usage', description: 'The budgets of the workspace, and how much of each is used' },
  Type.Object({
    budgets: Type.Array(
      Type.Object({
        name: Type.String({ enum: [...budgetNames] }),
        limit: orNull(Type.Integer({ description: 'Null means no limit', examples: [60_000] })),
        used: Type.Integer({ examples: [412] }),
        resetsAt: orNull(
          text('2026-03-02T09:01:00.000Z', {
            ...dateTime,
            description:
              'When a budget per minute or per day resets; null for amounts, and while a budget per minute is unused',
          }),
        ),
        perNode: Type.Boolean({
          description: 'Counted only on the node that responds, not for the whole installation',
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
          'Requests above the rate (requests_per_minute) get 429 rate_limited with Retry-After. Requests that would exceed any other budget get 403 budget_exceeded. The X-Budget header of the response names the budget.',
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
