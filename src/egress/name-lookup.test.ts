/** Names that somebody else serves never hold up other names: no thread waits for them. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitUntil } from '../../test/support/service/process.ts';
import { createNameLookup } from './name-lookup.ts';

type Answer = 'silence' | 'nothing' | 'address';

/** A name server; `answerTo` decides by the name and how often it was asked. */
async function withNameServer(
  answerTo: (name: string, times: number) => Answer,
  use: (servers: string[], asked: string[]) => Promise<void>,
): Promise<void> {
  const server = createSocket('udp4');
  const asked: string[] = [];
  server.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const isV4 = query.readUInt16BE(at + 1) === 1;
    const name = labels.join('.');
    asked.push(name);
    const answer = answerTo(name, asked.filter((one) => one === name).length);
    if (answer === 'silence') return;
    const question = query.subarray(12, at + 5);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    const found = answer === 'address' && isV4;
    header.writeUInt16BE(found ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7]);
    server.send(Buffer.concat([header, question, ...(found ? [record] : [])]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use([`127.0.0.1:${server.address().port}`], asked);
  } finally {
    server.close();
  }
}

async function withFiles(files: Record<string, string>, use: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-names-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    await use(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

const found = [{ address: '192.0.2.7', family: 4 }];

test('names whose server answers once and then is silent take no thread, and end', async () => {
  await withNameServer(
    (name, times) => (name.startsWith('good') ? 'address' : times <= 1 ? 'nothing' : 'silence'),
    async (servers, asked) => {
      const resolve = createNameLookup({ servers, deadlineMs: 1_500 });
      const slow = Array.from({ length: 40 }, (_, place) => resolve(`bad${place}.example.org`));
      const ends = Promise.allSettled(slow);
      await waitUntil(() => asked.filter((name) => name.startsWith('bad')).length >= 40);
      assert.ok(!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'));
      assert.deepEqual(await resolve('good.example.org'), found);
      const outcomes = await ends;
      assert.ok(outcomes.every(({ status }) => status === 'rejected'));
      assert.ok(
        outcomes.every(
          (one) => one.status === 'rejected' && ['ETIMEOUT', 'ENOTFOUND'].includes(one.reason.code),
        ),
      );
      assert.ok(!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'));
    },
  );
});

test('the hosts file is read without asking anybody, and read again when it changes', async () => {
  const hosts =
    '# comment\n10.0.0.1  Receiver receiver.lan # more\nfe80::1%lo0 odd\n::1 receiver\nnonsense x\n';
  await withFiles({ hosts }, (dir) =>
    withNameServer(
      () => 'nothing',
      async (servers, asked) => {
        const hostsFile = join(dir, 'hosts');
        const resolve = createNameLookup({ servers, hostsFile, resolvFile: join(dir, 'none') });
        const both = [
          { address: '10.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ];
        assert.deepEqual(await resolve('receiver'), both);
        assert.deepEqual(await resolve('RECEIVER.lan'), both.slice(0, 1));
        assert.equal((await resolve('a.localhost')).length, 2);
        assert.deepEqual(asked, []);
        await assert.rejects(resolve('later'), { code: 'ENOTFOUND' });
        await writeFile(hostsFile, `${hosts}10.0.0.2 later\n`);
        assert.deepEqual(await resolve('later'), [{ address: '10.0.0.2', family: 4 }]);
      },
    ),
  );
});

test('short names get the suffixes that the system has', async () => {
  const resolv = 'nameserver 192.0.2.1\nsearch one.lan two.lan.\noptions timeout:1 ndots:2\n';
  await withFiles({ resolv }, (dir) =>
    withNameServer(
      (name) => (name === 'hooks.two.lan' || name === 'a.b.c' ? 'address' : 'nothing'),
      async (servers, asked) => {
        const resolve = createNameLookup({ servers, resolvFile: join(dir, 'resolv') });
        assert.deepEqual(await resolve('hooks'), found);
        assert.deepEqual([...new Set(asked)], ['hooks.one.lan', 'hooks.two.lan']);
        assert.deepEqual(await resolve('a.b.c'), found);
        assert.ok(!asked.includes('a.b.c.one.lan'));
        await assert.rejects(resolve('hooks.'), { code: 'ENOTFOUND' });
      },
    ),
  );
});
