/** The answer of a step that a second person has to approve first: 202 with the approval, whose address is in Location. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { dateTime, like, named, sample, text } from '../../runtime/schemas.ts';
import { apiBase } from './api.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The workspace may require a second person for what the route does. */
    mayNeedApproval?: boolean;
  }
}

const NeedsApprovalSchema = named(
  { title: 'NeedsApproval', description: 'A second person has to approve it; nothing was done yet' },
  Type.Object({
    approval: Type.Object({
      id: text(sample.approvalId),
      expiresAt: like(dateTime, '2026-03-05T09:00:00.000Z'),
    }),
  }),
);

const begin = '{"approval":';
const words =
  'If the workspace requires a second person for it: 202 with the `approval` to wait for, and its address in `Location`.';

/** The answer to a request for it, whose status is set to 202. */
export function needsApproval(reply: FastifyReply, { id, expiresAt }: { id: string; expiresAt: Date }) {
  reply.code(202);
  return { approval: { id, expiresAt: expiresAt.toISOString() } };
}

/** For routes that take no Idempotency-Key. */
export function sendNeedsApproval(reply: FastifyReply, asked: { id: string; expiresAt: Date }): FastifyReply {
  return reply.send(needsApproval(reply, asked));
}

function approvalPath(id: string): string {
  return `${apiBase}/platform/approvals/${id}`;
}

/** Call before describeApi, which copies the answers of a route. */
export function announceApprovals(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.mayNeedApproval) return;
    const {
      response = {},
      description,
      ...schema
    } = (route.schema ?? {}) as {
      response?: Record<string, object>;
      description?: string;
    };
    const { 202: usual, ...others } = response;
    const accepted =
      usual === undefined
        ? NeedsApprovalSchema
        : Type.Unsafe({
            anyOf: [usual, NeedsApprovalSchema],
            description: 'The result, or the approval to wait for',
          });
    route.schema = {
      ...schema,
      description: [description, words].filter(Boolean).join(' '),
      response: { ...others, 202: accepted },
    };
    // Here, because the repeated answer of an Idempotency-Key has it, too.
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (_request, reply, payload) => {
        if (reply.statusCode !== 202) return;
        const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : '';
        if (!body.startsWith(begin)) return;
        const { approval } = JSON.parse(body) as { approval: { id: string } };
        reply.header('location', approvalPath(approval.id));
      },
    ];
  });
}
