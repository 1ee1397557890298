/**
 * A proof whose root is really in the registry of a real chain, and a proxy that presents that chain's node under
 * another name.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { buildInclusion } from '../../../src/chain/registry/inclusion.ts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
  registryDeploymentData,
} from '../../../src/chain/registry/registry.ts';
import type { EvmAnchor, Proof } from '../../../src/proof/verify/proof.ts';
import type { TrustDocument } from '../fixtures/clocked-proof.ts';
import { fixed, makeBatch, utf8 } from '../fixtures/proof-fixture.ts';
import { type Anvil, startAnvil } from './anvil.ts';

/** Not the id of a known chain. */
const chainId = 424_242;

/** A chain that can hold the registry: its genesis contains the deployer. */
export function startAnchoringAnvil(): Promise<Anvil> {
  return startAnvil({ alloc: { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode } }, chainId });
}

/** Deploys the registry, anchors a record with this content, and makes its block final. */
export async function anchorRecord({ client, accounts, mined }: Anvil, content: string): Promise<Proof> {
  const [account] = accounts;
  const common = { account, chain: client.chain, gas: 2_000_000n } as const;
  await mined(
    await client.sendTransaction({ ...common, to: deployerAddress, data: registryDeploymentData() }),
  );
  const thing = { kind: 'record', canonicalization: 'jcs', salt: fixed(0xa1), key: fixed(0x11) } as const;
  const things = ['rec_1', 'rec_2', 'rec_3'].map((id) => ({ ...thing, id, content: utf8(content) }));
  const { proofs } = await makeBatch(things, { sequence: 1 });
  const [made] = proofs;
  assert.ok(made);
  const { root, size } = made.proof.merkle;
  const anchor = { ...common, address: registryAddress, abi: registryAbi, functionName: 'anchor' } as const;
  const receipt = await mined(await client.writeContract({ ...anchor, args: [root, BigInt(size)] }));
  const { timestamp } = await client.getBlock({ blockNumber: receipt.blockNumber });
  const { transactionHash, blockHash } = receipt;
  const call = (method: string, params: readonly unknown[]) => client.request({ method, params } as never);
  const { inclusion } = await buildInclusion(call, { blockHash, transactionHash });
  assert.ok(inclusion);
  await client.mine({ blocks: 256 });
  const evm: EvmAnchor = {
    type: 'evm',
    chainId,
    contract: registryAddress.toLowerCase() as Hex,
    submitter: account.address.toLowerCase() as Hex,
    ...{ transactionHash, blockHash },
    blockNumber: Number(receipt.blockNumber),
    blockTime: Number(timestamp),
    inclusion,
  };
  return { ...made.proof, anchors: [evm] };
}

/** The trust file of somebody who accepts the clock of this chain. */
export async function trustIn({ client }: Anvil): Promise<TrustDocument> {
  const { hash } = await client.getBlock({ blockNumber: 0n });
  return { format: 'holdfast/trust@1', chains: [{ chainId, genesisHash: hash, finality: 'finalized' }] };
}

export interface DisguisedNode {
  url: string;
  close(): void;
}

/** Forwards calls, reports the client name of a public chain's node, and allows requests from web pages. */
export async function disguise(url: string): Promise<DisguisedNode> {
  const headers = {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'content-type',
  };
  const server = createServer(async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, headers).end();
    const body = await new Response(request as never).text();
    const { id, method } = JSON.parse(body);
    const named = { jsonrpc: '2.0', id, result: 'Geth/v1.16.7-stable' };
    const answer =
      method === 'web3_clientVersion'
        ? JSON.stringify(named)
        : await (await fetch(url, { method: 'POST', headers, body })).text();
    return response.writeHead(200, headers).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
