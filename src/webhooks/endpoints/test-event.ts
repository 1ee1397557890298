/** The webhook.test event, sent when an endpoint is saved or on request. Its outcome is returned at once and logged. */
import type { Write } from '../../db/writes.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { Exchange, Exchanger, Outcome } from '../exchange/exchange.ts';
import { createSigner } from '../exchange/signature.ts';
import type { Sending } from './sending.ts';

export interface TestOutcome {
  delivered: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

export interface Tester {
  /** `write` is the delivery for the log, to be committed with the change that the test belongs to. */
  send(
    endpoint: { workspaceId: string; id: string; url: string },
    sending: Sending,
  ): Promise<{ outcome: TestOutcome; write: Write }>;
}

/** A test may take as long as a delivery, and runs outside the lanes. */
const mostAtOnce = { node: 100, workspace: 20 };

export function createTester({
  exchanger,
  serviceName,
}: {
  exchanger: Exchanger;
  serviceName: string;
}): Tester {
  const underWay = new Map<string, number>();
  let all = 0;

  /** Returns the function that leaves again. */
  function enter(workspaceId: string): () => void {
    const own = underWay.get(workspaceId) ?? 0;
    if (own >= mostAtOnce.workspace || all >= mostAtOnce.node) {
      throw new AppError(
        'rate_limit_exceeded',
        'Too many webhook endpoint tests are running. Try again when one of them has finished.',
        { retryAfterSeconds: 5 },
      );
    }
    underWay.set(workspaceId, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (underWay.get(workspaceId) ?? 1) - 1;
      if (left > 0) underWay.set(workspaceId, left);
      else underWay.delete(workspaceId);
    };
  }

  async function post(exchange: Exchange, workspaceId: string): Promise<Outcome> {
    const leave = enter(workspaceId);
    try {
      return await exchanger.post(exchange);
    } finally {
      leave();
    }
  }

  return {
    async send({ workspaceId, id, url }, { client, ...signing }) {
      const at = new Date();
      const eventId = newId('evt');
      const envelope = JSON.stringify({
        id: eventId,
        type: 'webhook.test',
        timestamp: at.toISOString(),
        workspace_id: workspaceId,
        data: { endpoint_id: id },
      });
      const sign = createSigner({ serviceName, ...signing });
      const headers = sign({ eventId, body: envelope, timestamp: Math.floor(at.getTime() / 1000) });
      const {
        retryAfter: _,
        cutOff: __,
        ...told
      } = await post({ url: new URL(url), headers, body: envelope, client }, workspaceId);
      const delivered = told.error === null;
      return {
        outcome: { delivered, statusCode: told.statusCode, error: told.error, durationMs: told.durationMs },
        write: {
          table: 'webhook_deliveries',
          row: {
            workspace_id: workspaceId,
            // A test goes to one endpoint only, so its id can be derived from the event's.
            id: eventId.replace('evt_', 'dlv_'),
            event_id: eventId,
            endpoint_id: id,
            type: 'webhook.test',
            status: delivered ? 'succeeded' : 'failed',
            attempt_count: 1,
            attempts: [{ number: 1, at: at.toISOString(), ...told }],
            envelope,
            created_at: at,
          },
        },
      };
    },
  };
}
