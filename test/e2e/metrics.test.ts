/** What /metrics shows is what the catalogue of metrics has, which the documents are made from. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MetricName, metricCatalogue, metricEntry } from '../../src/metrics/catalogue.ts';
import { type Service, startService } from '../support/service/service.ts';

const ofProcess = /^(process|nodejs)_/;
const names = Object.keys(metricCatalogue) as MetricName[];

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.close());

test('shows every metric of the catalogue with type and meaning, and no others but of the process', async () => {
  const { status, text } = await service.call('GET', '/metrics', { key: null });
  assert.equal(status, 200);
  const shown = (about: 'HELP' | 'TYPE') =>
    Object.fromEntries(
      [...text.matchAll(new RegExp(`^# ${about} (\\S+) (.*)$`, 'gm'))]
        .map(([, name = '', said = '']) => [name, said] as const)
        .filter(([name]) => !ofProcess.test(name)),
    );
  assert.deepEqual(shown('HELP'), Object.fromEntries(names.map((name) => [name, metricEntry(name).help])));
  assert.deepEqual(shown('TYPE'), Object.fromEntries(names.map((name) => [name, metricEntry(name).type])));
});

test('every figure belongs to a metric of the catalogue, with the labels and values named there', async () => {
  const { text } = await service.call('GET', '/metrics', { key: null });
  const lines = text.split('\n').filter((line) => /^\w/.test(line) && !ofProcess.test(line));
  assert.ok(lines.length > names.length);
  for (const line of lines) {
    const [, sample = '', labelled = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    const name = names.find(
      (known) =>
        known === sample ||
        (metricEntry(known).type === 'histogram' && sample.replace(/_(bucket|sum|count)$/, '') === known),
    );
    assert.ok(name, line);
    const { labels = {} } = metricEntry(name);
    const given = [...labelled.matchAll(/(\w+)="([^"]*)"/g)].filter(([, label]) => label !== 'le');
    assert.deepEqual(given.map(([, label]) => label).sort(), Object.keys(labels).sort(), line);
    for (const [, label = '', value = ''] of given) {
      assert.ok(labels[label] === null || labels[label]?.includes(value), line);
    }
  }
});

test('the metrics are shown to nobody who asks for another name that leads here, as a page in a browser can', async () => {
  const ask = (host: string) =>
    service.app.server.http.inject({
      method: 'GET',
      url: '/metrics',
      headers: { host },
      remoteAddress: '127.0.0.1',
    });
  for (const host of ['127.0.0.1:3000', 'localhost:3000', 'LOCALHOST', '[::1]:3000', '127.9.9.9']) {
    assert.equal((await ask(host)).statusCode, 200, host);
  }
  for (const host of [
    'rebound.example.org:3000',
    'localhost.example.org',
    '10.0.0.1',
    '127.0.0.1.example.org',
  ]) {
    assert.equal((await ask(host)).statusCode, 401, host);
  }
});

test('a client that has left when its address is looked at is no fault of the service', async () => {
  const { statusCode } = await service.app.server.http.inject({
    ...{ method: 'GET', url: '/api-v1/nothing', headers: { host: 'localhost' } },
    remoteAddress: undefined as unknown as string,
  });
  assert.equal(statusCode, 404);
});
