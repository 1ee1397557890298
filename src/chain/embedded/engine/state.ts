/** Opens the state after a block, for one request. */

import type { Common } from '@ethereumjs/common';
import { createEVM } from '@ethereumjs/evm';
import { createMPT } from '@ethereumjs/mpt';
import { Caches, type MerkleStateManager } from '@ethereumjs/statemanager';
import { hexToBytes, ValueEncoding } from '@ethereumjs/util';
import { createVM, type VM } from '@ethereumjs/vm';
import type { Hex } from 'viem';
import type { Deadline } from './deadline.ts';
import { emptyRoot } from './header-fields.ts';
import { type NodeCache, type NodeView, openNodes, type ReadNode } from './nodes.ts';
import { OwnedStateManager } from './owned-state.ts';
import { customPrecompiles } from './precompiles.ts';

export interface StateNeeds {
  common: Common;
  cache: NodeCache;
  readNode: ReadNode;
  deadline: Deadline;
  /** The hash of a block below the one that is executed; null if there is none. */
  readBlockHash(number: number): Promise<Hex | null>;
}

export interface State {
  manager: MerkleStateManager;
  nodes: NodeView;
}

export async function openState(root: Hex, needs: StateNeeds): Promise<State> {
  const { common, cache, readNode, deadline } = needs;
  const nodes = openNodes(cache, (key) => {
    deadline.check();
    return readNode(key);
  });
  const trie = await createMPT({
    db: nodes,
    common,
    useKeyHashing: true,
    useNodePruning: true,
    valueEncoding: ValueEncoding.Bytes,
    ...(root !== emptyRoot && { root: hexToBytes(root) }),
  });
  return { manager: new OwnedStateManager({ common, trie, nodes, caches: new Caches() }), nodes };
}

export async function openVm({ manager }: State, needs: StateNeeds): Promise<VM> {
  const { deadline } = needs;
  // The EVM listens to changes of these rules as long as they live, and would live as long.
  const common = needs.common.copy();
  const hashes = new Map<number, Uint8Array>();
  const readHash = async (number: number) => {
    const hash = await needs.readBlockHash(number);
    if (hash === null) throw new Error('there is no such block');
    return hexToBytes(hash);
  };
  const blockchain = {
    async getBlock(given: number | bigint | Uint8Array) {
      deadline.check();
      const number = Number(given);
      const hash = hashes.get(number) ?? (await readHash(number));
      hashes.set(number, hash);
      return { hash: () => hash };
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  };
  const evm = await createEVM({
    common,
    blockchain,
    stateManager: manager,
    customPrecompiles: customPrecompiles(common, deadline),
  });
  return createVM({ common, evm, blockchain: blockchain as never, stateManager: manager });
}
