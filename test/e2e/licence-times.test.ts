/** The limits of a licence are times that exist: nothing else is stored, so that no licence ends at a time that nobody can read. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { utcTime } from '../../src/proof/utc-time.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const workers = '/api-v1/damc/workers/';
const limits = ['validFrom', 'expiresAt', 'suspendedAt'];
let service: Service;
let address: string;

before(async () => {
  service = await startService({ runLoops: false });
  address = (await service.call('POST', workers, { body: { name: 'Ada Lund' } })).json.address;
});
after(() => service.close());

const enter = (change: object) => {
  const licence = { scope: 'repair', number: 'DK.66.1', authority: 'EASA', ...change };
  return service.call('PATCH', `${workers}${address}/`, { body: { licences: [licence] } });
};

test('a limit that is no time, or on no day, is refused', async () => {
  for (const time of [
    ...[
      '31.12.2020',
      '2036-06-30',
      '2036-02-30T00:00:00.000Z',
      '2036-06-30T24:00:00Z',
      '2036-06-30T23:59:60Z',
    ],
    ...[
      '2036-06-30T00:00:00',
      '2036-06-30 00:00:00Z',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-01:00',
      'never',
    ],
    ...['', ' 2036-06-30T00:00:00Z', '2036-06-30T00:00:00Z\n', 2_098_000_000, true, ['2036-06-30T00:00:00Z']],
  ]) {
    for (const limit of limits) assertError(await enter({ [limit]: time }), 'invalid_request');
  }
  assert.deepEqual((await service.call('GET', `${workers}${address}/`)).json.licences, []);
});

test('however a time is written, it is stored as verifiers read it', async () => {
  for (const [written, stored] of [
    ['2036-06-30T02:00:00+02:00', '2036-06-30T00:00:00.000Z'],
    ['2036-06-30t00:00:00.123456z', '2036-06-30T00:00:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const) {
    const answer = await enter({ expiresAt: written });
    assert.equal(answer.json.licences?.[0].expiresAt, stored, answer.text);
    assert.ok(!Number.isNaN(utcTime(stored)));
  }
});
