import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockedTarget, createAddressGuard, toAllowList, type VettedAddress } from './address-guard.ts';

const nobody = toAllowList([]);
const never = async (): Promise<VettedAddress[]> => assert.fail('a literal must not be looked up');

const hostile = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://0177.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://100.64.0.1/',
  'https://192.0.0.1/',
  'https://192.0.2.1/',
  'https://198.18.0.1/',
  'https://203.0.113.5/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[::7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001::1]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://127.0.0.1./',
  'https://127%2e0.0.1/',
  'http://93.184.216.34/',
  'https://user:pw@93.184.216.34/',
  'https://user@93.184.216.34/',
  'ftp://93.184.216.34/',
  'file:///etc/passwd',
  'gopher://93.184.216.34/',
  'javascript:alert(1)',
  'https://',
  'not a url',
  '//93.184.216.34/',
  '',
];

for (const url of hostile) {
  test(`refuses ${url || 'an empty text'}`, async () => {
    await assert.rejects(createAddressGuard(nobody, never).vetUrl(url), BlockedTarget);
  });
}

test('allows public literals and names that lead to public addresses only', async () => {
  const guard = createAddressGuard(nobody, async () => [{ address: '93.184.216.34', family: 4 }]);
  assert.equal(
    (await guard.vetUrl('https://example.org:8443/hook?x=1#frag')).href,
    'https://example.org:8443/hook?x=1',
  );
  assert.ok(await guard.vetUrl('https://93.184.216.34/'));
  assert.ok(await guard.vetUrl('https://[2606:2800:220:1:248:1893:25c8:1946]/'));
});

test('a name that leads inside is refused, and of a mixed answer only the public address is used', async () => {
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

test('a name that changes its answer is judged by the answer that is connected to', async () => {
  const answers = [
    [{ address: '93.184.216.34', family: 4 as const }],
    [{ address: '127.0.0.1', family: 4 as const }],
  ];
  const guard = createAddressGuard(nobody, async () => answers.shift() ?? []);
  await guard.vetUrl('https://rebind.example.org/');
  await assert.rejects(guard.vetHost({ hostname: 'rebind.example.org', protocol: 'https:' }), BlockedTarget);
});

test('the operator may allow hosts and ranges, then also over http; nothing else is opened by that', async () => {
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
