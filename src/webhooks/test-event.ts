/** The webhook.test event: sent when an endpoint is saved or on request, its outcome told at once and kept in the log. */
import type { Write } from '../db/writes.ts';
import { newId } from '../ids.ts';
import type { SigningSecrets } from './endpoint-secrets.ts';
import type { Exchanger } from './exchange.ts';
import { createSigner } from './signature.ts';

export interface TestOutcome {
  delivered: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}

export interface Tester {
  /** `write` is the delivery for the log, to be committed with whatever the test belongs to. */
  send(
    endpoint: { workspaceId: string; id: string; url: string },
    secrets: SigningSecrets,
  ): Promise<{ outcome: TestOutcome; write: Write }>;
}

export function createTester({
  exchanger,
  serviceName,
}: {
  exchanger: Exchanger;
  serviceName: string;
}): Tester {
  return {
    async send({ workspaceId, id, url }, secrets) {
      const at = new Date();
      const eventId = newId('evt');
      const envelope = JSON.stringify({
        id: eventId,
        type: 'webhook.test',
        timestamp: at.toISOString(),
        workspace_id: workspaceId,
        data: { endpoint_id: id },
      });
      const sign = createSigner({ serviceName, ...secrets });
      const headers = sign({ eventId, body: envelope, timestamp: Math.floor(at.getTime() / 1000) });
      const {
        retryAfter: _,
        cutOff: __,
        ...told
      } = await exchanger.post({ url: new URL(url), headers, body: envelope });
      const delivered = told.error === null;
      return {
        outcome: { delivered, statusCode: told.statusCode, error: told.error, durationMs: told.durationMs },
        write: {
          table: 'webhook_deliveries',
          row: {
            workspace_id: workspaceId,
            // It goes to one endpoint alone, so its own id finds it.
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
