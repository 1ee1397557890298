/** What waits behind a 410 is not sent, and nothing is sent to an endpoint that was deleted or changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from './process.ts';
import { certificate, startReceiver } from './receiver.ts';
import { startService } from './service.ts';

for (const how of ['410', 'delete'] as const) {
  test(`${how}: what was claimed and not started is kept as skipped`, async () => {
    const receiver = await startReceiver();
    const service = await startService({
      env: {
        HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
        HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      },
      runLoops: false,
    });
    try {
      const { json: endpoint } = await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
        body: { url: receiver.url, eventTypes: ['vault.deactivated'] },
      });
      const vaults = await Promise.all(
        Array.from(
          { length: 200 },
          async () =>
            (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address,
        ),
      );
      await Promise.all(
        vaults.map((vault) => service.call('PATCH', `/api-v1/platform/vaults/${vault}/deactivate`)),
      );
      receiver.received.length = 0;
      let until = 20;
      let deleted = 0;
      receiver.answer = (response) => {
        until -= 1;
        if (how === '410') return void response.writeHead(until > 0 ? 204 : 410).end();
        if (until === 0)
          void service.call('DELETE', `/api-v1/platform/webhooks/endpoints/${endpoint.id}`).then(() => {
            deleted = receiver.received.length;
          });
        setTimeout(() => response.writeHead(204).end(), 50);
      };
      service.app.loops.start();
      const list = '/api-v1/platform/webhooks/deliveries?type=vault.deactivated&limit=1000';
      await waitUntil(async () => {
        const { json } = await service.call('GET', list);
        return json.every(({ status }: { status: string }) => status !== 'pending' && status !== 'delivering')
          ? json
          : null;
      });
      const late = how === '410' ? receiver.received.length - 20 : receiver.received.length - deleted;
      assert.ok(late <= 64, `${late} more were sent`);
    } finally {
      await service.close();
      await receiver.close();
    }
  });
}
