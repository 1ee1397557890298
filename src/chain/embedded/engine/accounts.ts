/** Reads accounts, code and storage from a state, and proves them. */

import { getMerkleStateProof } from '@ethereumjs/statemanager';
import { bytesToHex, createAddressFromString, hexToBytes, setLengthLeft } from '@ethereumjs/util';
import type { Hex } from 'viem';
import type { AccountAnswer, ProofAnswer } from './protocol.ts';
import type { State } from './state.ts';
import { accountOf } from './transactions.ts';

export async function readAccount(address: Hex, state: State): Promise<AccountAnswer> {
  const at = createAddressFromString(address);
  const { balance, nonce, storageRoot, codeHash } = await accountOf(state, at);
  return {
    balanceWei: balance,
    nonce: Number(nonce),
    storageRoot: bytesToHex(storageRoot),
    codeHash: bytesToHex(codeHash),
    exists: (await state.manager.getAccount(at)) !== undefined,
  };
}

export async function readCode(address: Hex, { manager }: State): Promise<Hex> {
  return bytesToHex(await manager.getCode(createAddressFromString(address)));
}

export async function readStorage(
  { address, slot }: { address: Hex; slot: Hex },
  { manager }: State,
): Promise<Hex> {
  const value = await manager.getStorage(createAddressFromString(address), hexToBytes(slot));
  return bytesToHex(setLengthLeft(value, 32));
}

export async function readProof(
  { address, slots }: { address: Hex; slots: Hex[] },
  state: State,
): Promise<ProofAnswer> {
  const at = createAddressFromString(address);
  const proof = await getMerkleStateProof(
    state.manager,
    at,
    slots.map((slot) => hexToBytes(slot)),
  );
  return {
    ...(await readAccount(address, state)),
    accountProof: proof.accountProof as Hex[],
    storageProof: proof.storageProof as { key: Hex; value: Hex; proof: Hex[] }[],
  };
}
