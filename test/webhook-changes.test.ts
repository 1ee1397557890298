/** Endpoints that end or change while deliveries to them are under way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from './process.ts';
import { certificate, type Receiver, startReceiver } from './receiver.ts';
import { type Service, startService } from './service.ts';

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

test('a 410 of an address that was replaced meanwhile is not held against the new one', async () => {
  await withMove(async ({ service, old, fresh, endpoint }) => {
    const vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json
      .address;
    let answerNow = () => {};
    old.answer = (response) => {
      answerNow = () => response.writeHead(410).end();
    };
    old.received.length = 0;
    await service.call('PATCH', `/api-v1/platform/vaults/${vault}/deactivate`);
    await waitUntil(() => old.received.length === 1);
    await service.call('PATCH', `${endpoints}/${endpoint}`, { body: { url: fresh.url } });
    fresh.received.length = 0;
    // Something for the new address, so that the node knows of it.
    await service.call('PATCH', `/api-v1/platform/vaults/${vault}/reactivate`);
    await waitUntil(() => fresh.received.length === 1);
    answerNow();
    await waitUntil(async () => {
      const { json } = await service.call(
        'GET',
        '/api-v1/platform/webhooks/deliveries?type=vault.deactivated',
      );
      return json[0].status === 'failed';
    });
    const now = (await service.call('GET', `${endpoints}/${endpoint}`)).json;
    assert.deepEqual([now.enabled, now.status, now.url], [true, 'active', fresh.url]);
  });
});

test('a change that is still being tested does not bring back the address that another one replaced', async () => {
  await withMove(async ({ service, old, fresh, endpoint }) => {
    let answerNow: (() => void) | null = null;
    old.answer = (response) => {
      answerNow = () => response.writeHead(204).end();
    };
    const slow = service.call('PATCH', `${endpoints}/${endpoint}`, { body: { description: 'slow' } });
    await waitUntil(() => answerNow !== null);
    await service.call('PATCH', `${endpoints}/${endpoint}`, { body: { url: fresh.url } });
    (answerNow as unknown as () => void)();
    assert.equal((await slow).json.url, fresh.url);
    const rotations = await Promise.all(
      Array.from({ length: 20 }, () => service.call('POST', `${endpoints}/${endpoint}/rotate-secret`)),
    );
    assert.deepEqual(
      rotations.map(({ status }) => status),
      rotations.map(() => 200),
      'as many at once as they like',
    );
  });
});

const endpoints = '/api-v1/platform/webhooks/endpoints';

interface Move {
  service: Service;
  /** Where the endpoint is, and where the test moves it. */
  old: Receiver;
  fresh: Receiver;
  endpoint: string;
}

async function withMove(work: (move: Move) => Promise<void>): Promise<void> {
  const [old, fresh] = [await startReceiver(), await startReceiver()];
  const service = await startService({
    env: { HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8', HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile },
  });
  try {
    const { json } = await service.call('POST', endpoints, {
      body: { url: old.url, eventTypes: ['vault.deactivated', 'vault.reactivated'] },
    });
    await work({ service, old, fresh, endpoint: json.id });
  } finally {
    await service.close();
    await old.close();
    await fresh.close();
  }
}
