/** Builds block 0 from the genesis text. */
import { Account, bytesToHex, createAddressFromString, hexToBytes } from '@ethereumjs/util';
import type { Hex } from 'viem';
import { emptyRoot } from './header-fields.ts';
import type { BlockResult } from './protocol.ts';
import { firstBaseFeeWei, headerOf, historyAddress, historyCode } from './rules.ts';
import { openState, type StateNeeds } from './state.ts';

interface Genesis {
  timestamp: Hex;
  alloc: Record<Hex, { balance: Hex; nonce?: Hex; code?: Hex }>;
}

/**
 * The header has the root of an empty state, as anvil writes it, while the state has the accounts of the genesis. The
 * result has the root of the state, because the next block is executed on it.
 */
export async function buildGenesis(text: string, needs: StateNeeds): Promise<BlockResult> {
  const { timestamp, alloc }: Genesis = JSON.parse(text);
  const parts = {
    number: 0,
    parentHash: `0x${'00'.repeat(32)}` as Hex,
    timestampSeconds: Number(timestamp),
    baseFeeWei: firstBaseFeeWei,
    gasUsed: 0,
  };
  const { manager, nodes } = await openState(emptyRoot, needs);
  await manager.checkpoint();
  const accounts: Genesis['alloc'] = { ...alloc, [historyAddress]: { balance: '0x0', code: historyCode } };
  for (const [address, { balance, nonce = '0x0', code }] of Object.entries(accounts)) {
    const at = createAddressFromString(address);
    await manager.putAccount(at, new Account(BigInt(nonce), BigInt(balance)));
    if (code !== undefined) await manager.putCode(at, hexToBytes(code));
  }
  await manager.commit();
  const root = await manager.getStateRoot();
  return {
    ...parts,
    hash: bytesToHex(headerOf(parts, needs.common).hash()),
    stateRoot: bytesToHex(root),
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    transactions: [],
    changes: nodes.changes(root),
  };
}
