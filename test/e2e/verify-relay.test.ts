/** The relay of /verify on a node that never leads, and what strangers may spend through it. */
// tier: process
import assert from 'node:assert/strict';
import { startAnvil } from '../support/chain/anvil.ts';
import { startRpcProxy } from '../support/chain/rpc-proxy.ts';
import { needs } from '../support/programs/needs.ts';
import { startService } from '../support/service/service.ts';

needs('anvil').test(
  'a node with the role api alone relays to the chain, and counts a network as one client',
  async (t) => {
    const anvil = await startAnvil();
    t.after(() => anvil.stop());
    const proxy = await startRpcProxy(() => anvil.url);
    t.after(() => proxy.close());
    const service = await startService({
      env: {
        HOLDFAST_ROLES: 'api',
        HOLDFAST_CHAIN_RPC_URLS: proxy.url,
        HOLDFAST_TRUST_PROXY: '127.0.0.1,::1',
      },
    });
    t.after(() => service.close());
    const ask = (from: string, method: string, params: unknown[] = []) =>
      service.call('POST', '/verify/rpc', {
        key: null,
        body: { jsonrpc: '2.0', id: 1, method, params },
        headers: { 'x-forwarded-for': from },
      });
    // Some node has led on this chain before.
    const { hash } = await anvil.client.getBlock({ blockNumber: 0n });
    const twentyBytes = Buffer.alloc(20, 1);
    await service.sql(
      'insert into chain (chain_id, genesis_hash, embedded, registry, submitter) values ($1, $2, false, $3, $3)',
      [31_337, Buffer.from(hash.slice(2), 'hex'), twentyBytes],
    );
    const head = await ask('192.0.2.1', 'eth_getBlockByNumber', ['latest', false]);
    assert.equal(head.status, 200, head.text);
    assert.equal(head.json.result.hash, (await anvil.client.getBlock()).hash);

    // Addresses of one network of 64 bits share what one client may ask.
    const limit = 300;
    let last = await ask('2001:db8:1:2::1', 'eth_chainId');
    for (let count = 1; count <= limit; count += 1) {
      last = await ask(`2001:db8:1:2::${count.toString(16)}`, 'eth_chainId');
    }
    assert.equal(last.status, 429, last.text);
    assert.equal((await ask('2001:db8:1:3::1', 'eth_chainId')).status, 200);
    const asked = proxy.calls.filter(({ method }) => method === 'eth_chainId').length;
    assert.ok(asked <= 2, `the chain's id was asked ${asked} times: by the relay, and to vet the address`);
  },
);
