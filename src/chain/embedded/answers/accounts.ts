/** Accounts, code and storage in the state after a block, and their proofs. */
import { type Hex, numberToHex } from 'viem';
import type { AccountAnswer } from '../engine/protocol.ts';
import { askEngine } from './ask-engine.ts';
import { invalid } from './faults.ts';
import { findState } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';
import { readAddress, readBigQuantity, readList } from './parameters.ts';

const mostSlots = 100;

export const accountMethods: Methods = {
  eth_getBalance: {
    most: 2,
    handle: async (asked) => numberToHex((await readAccount(asked)).balanceWei),
  },
  eth_getTransactionCount: { most: 2, handle: countTransactions },
  eth_getAccount: {
    most: 2,
    async handle(asked) {
      const { balanceWei, nonce, codeHash, storageRoot } = await readAccount(asked);
      return { balance: numberToHex(balanceWei), nonce: numberToHex(nonce), codeHash, storageRoot };
    },
  },
  eth_getAccountInfo: {
    most: 2,
    async handle(asked) {
      const place = await readPlace(asked);
      const { balanceWei, nonce } = await askEngine(asked, 'account', place);
      const code = await askEngine(asked, 'code', place);
      return { balance: numberToHex(balanceWei), nonce: numberToHex(nonce), code };
    },
  },
  eth_getCode: { most: 2, handle: async (asked) => askEngine(asked, 'code', await readPlace(asked)) },
  eth_getStorageAt: {
    most: 3,
    async handle(asked) {
      const [address, slot, block] = asked.params;
      const place = { address: readAddress(address, 'the address'), slot: readSlot(slot) };
      const { stateRoot } = await findState(block, asked.needs.results);
      return askEngine(asked, 'storage', { ...place, stateRoot });
    },
  },
  eth_getProof: { most: 3, handle: prove },
};

/** Address and block are the parameters of most of these methods. */
async function readPlace({ params, needs }: Asked): Promise<{ address: Hex; stateRoot: Hex }> {
  const address = readAddress(params[0], 'the address');
  const { stateRoot } = await findState(params[1], needs.results);
  return { address, stateRoot };
}

async function readAccount(asked: Asked): Promise<AccountAnswer> {
  return askEngine(asked, 'account', await readPlace(asked));
}

/** With those that wait in the pool if the block is `pending`. */
async function countTransactions(asked: Asked): Promise<Hex> {
  const place = await readPlace(asked);
  const { nonce } = await askEngine(asked, 'account', place);
  const isPending = asked.params[1] === 'pending';
  return numberToHex(isPending ? asked.needs.pool.nextNonce(place.address, nonce) : nonce);
}

async function prove(asked: Asked): Promise<object> {
  const address = readAddress(asked.params[0], 'the address');
  const keys = readList(asked.params[1], 'the storage keys', mostSlots);
  const slots = keys.map(readSlot);
  const { stateRoot } = await findState(asked.params[2], asked.needs.results);
  const proof = await askEngine(asked, 'proof', { address, slots, stateRoot });
  return {
    address,
    accountProof: proof.accountProof,
    balance: numberToHex(proof.balanceWei),
    codeHash: proof.codeHash,
    nonce: numberToHex(proof.nonce),
    storageHash: proof.storageRoot,
    storageProof: proof.storageProof.map(({ value, proof: nodes }, place) => ({
      key: namedAs(keys[place], slots[place]),
      value: numberToHex(value === '0x' ? 0n : BigInt(value)),
      proof: nodes,
    })),
  };
}

/** Any number of digits: clients send both whole words and short numbers. */
function readSlot(value: unknown): Hex {
  if (typeof value === 'string' && value.length > 66) throw invalid('a storage key has at most 32 bytes');
  return numberToHex(readBigQuantity(value, 'a storage key'), { size: 32 });
}

/** A whole word, or a short number if the client used one. */
function namedAs(key: unknown, slot: Hex = '0x'): Hex {
  return typeof key === 'string' && key.length === 66 ? slot : numberToHex(BigInt(slot));
}
