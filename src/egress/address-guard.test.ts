/** Which webhook URLs and addresses the guard allows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostileUrls } from '../../test/support/clients/hostile-urls.ts';
import { BlockedTarget, createAddressGuard, toAllowList } from './address-guard.ts';
import type { FoundAddress } from './name-lookup.ts';

const nobody = toAllowList([]);
const never = async (): Promise<FoundAddress[]> => assert.fail('a literal must not be looked up');

for (const url of hostileUrls) {
  test(`refuses ${url || 'an empty text'}`, async () => {
    await assert.rejects(createAddressGuard(nobody, never).vetUrl(url), BlockedTarget);
  });
}

test('allows public literals, and names that resolve only to public addresses', async () => {
  const guard = createAddressGuard(nobody, async () => [{ address: '93.184.216.34', family: 4 }]);
  assert.equal(
    (await guard.vetUrl('https://example.org:8443/hook?x=1#frag')).href,
    'https://example.org:8443/hook?x=1',
  );
  assert.ok(await guard.vetUrl('https://93.184.216.34/'));
  assert.ok(await guard.vetUrl('https://[2606:2800:220:1:248:1893:25c8:1946]/'));
});

test('refuses a name with internal addresses only, and uses only the public ones of a mixed answer', async () => {
  const inside = createAddressGuard(nobody, async () => [
    { address: '10.1.2.3', family: 4 },
    { address: '::1', family: 6 },
  ]);
  await assert.rejects(inside.vetUrl('https://internal.example.org/'), BlockedTarget);
  const mixed = createAddressGuard(nobody, async () => [
    { address: '10.1.2.3', family: 4 },
    { address: '93.184.216.34', family: 4 },
  ]);
  assert.deepEqual(await mixed.vetHost({ hostname: 'mixed.example.org', protocol: 'https:' }), [
    { address: '93.184.216.34', family: 4 },
  ]);
});

test('judges a name that changes its answer by the answer that is connected to', async () => {
  const answers = [
    [{ address: '93.184.216.34', family: 4 as const }],
    [{ address: '127.0.0.1', family: 4 as const }],
  ];
  const guard = createAddressGuard(nobody, async () => answers.shift() ?? []);
  await guard.vetUrl('https://rebind.example.org/');
  await assert.rejects(guard.vetHost({ hostname: 'rebind.example.org', protocol: 'https:' }), BlockedTarget);
});

test('the operator may allow hosts and ranges, over http too, and this opens nothing else', async () => {
  const allow = toAllowList(['127.0.0.0/8', 'hooks.internal']);
  const guard = createAddressGuard(allow, async (name) =>
    name === 'localhost'
      ? [
          { address: '::1', family: 6 },
          { address: '127.0.0.1', family: 4 },
        ]
      : [{ address: '10.0.0.9', family: 4 }],
  );
  assert.ok(await guard.vetUrl('http://127.0.0.1:4000/'));
  assert.deepEqual(await guard.vetHost({ hostname: 'localhost', protocol: 'http:' }), [
    { address: '127.0.0.1', family: 4 },
  ]);
  assert.ok(await guard.vetUrl('http://hooks.internal/'));
  await assert.rejects(guard.vetUrl('http://10.0.0.9/'), BlockedTarget);
  await assert.rejects(guard.vetUrl('http://93.184.216.34/'), BlockedTarget);
  await assert.rejects(guard.vetUrl('https://other.internal/'), BlockedTarget);
});
