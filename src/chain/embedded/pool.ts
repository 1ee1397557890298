/** Transactions that wait for a block. It is bounded, and lost with the process: whoever sent one sends it again. */
import type { Hex } from 'viem';
import { RpcFault } from '../rpc/json-rpc.ts';
import { mostGas, nextBaseFee } from './engine/header-fields.ts';
import type { CheckedTransaction, ParentBlock } from './engine/protocol.ts';

export interface PoolTransaction {
  hash: Hex;
  raw: Hex;
  from: Hex;
  nonce: number;
}

export interface Pool {
  /** Refuses what can never be mined, and what does not fit. `own`: of the service itself, which always fits. */
  add(raw: Hex, options?: { own?: boolean }): Promise<Hex>;
  find(hash: Hex): PoolTransaction | null;
  /** The nonce after the consecutive ones that the pool has, given the account's. */
  nextNonce(address: Hex, accountNonce: number): number;
  size(): number;
  /** What the next block should try, our own first, and the nonces of each sender in order. */
  candidates(): Hex[];
  /** The block has these; of the others, those that a block can no longer have are removed too. */
  settle(mined: readonly Hex[], dropped: readonly Hex[]): void;
  /** A block was built from these, and the engine lived on. */
  acquit(raws: readonly Hex[]): void;
  /** The engine was lost while it executed these. A transaction with which that happens twice is removed. */
  suspect(raws: readonly Hex[]): Hex[];
}

export interface PoolNeeds {
  head(): ParentBlock;
  check(raw: Hex, options: { own: boolean }): Promise<CheckedTransaction>;
  /** Called when a transaction was added. */
  onAdded(): void;
  now?(): number;
}

interface Entry extends PoolTransaction {
  own: boolean;
  gasLimit: number;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
  since: number;
  losses: number;
}

/** For transactions of others, which anybody may send who reaches the gateway. */
const bounds = { all: 1_024, bytes: 8 * 1024 * 1024, ofSender: 64, nonceGap: 64, ageMs: 10 * 60_000 };
const mostCandidates = 1_000;
const mostCandidateGas = 60_000_000;

export function createPool({ head, check, onAdded, now = () => performance.now() }: PoolNeeds): Pool {
  /** In the order of arrival. */
  const entries = new Map<Hex, Entry>();

  const ofSender = (from: Hex) => [...entries.values()].filter((entry) => entry.from === from);

  function expire(): void {
    for (const entry of entries.values()) {
      if (!entry.own && now() - entry.since > bounds.ageMs) entries.delete(entry.hash);
    }
  }

  /** Without what it replaces. */
  function requireRoom(checked: CheckedTransaction, raw: Hex, replaced: Entry | null): void {
    const others = [...entries.values()].filter((entry) => !entry.own && entry !== replaced);
    const bytes = others.reduce((sum, entry) => sum + entry.raw.length / 2, raw.length / 2);
    if (others.length >= bounds.all || bytes > bounds.bytes) throw refused('txpool is full');
    if (others.filter(({ from }) => from === checked.from).length >= bounds.ofSender) {
      throw refused(`the pool has ${bounds.ofSender} transactions of this sender already`);
    }
    if (checked.nonce > checked.account.nonce + bounds.nonceGap) throw refused('nonce too high');
    const baseFeeWei = nextBaseFee(head());
    if (checked.maxFeeWei < baseFeeWei) {
      throw refused(`max fee per gas less than block base fee: ${checked.maxFeeWei} < ${baseFeeWei}`);
    }
  }

  /** What the new transaction takes the nonce of, if its fees are a tenth higher, as everywhere. */
  function replaceable(checked: CheckedTransaction): Entry | null {
    const present = ofSender(checked.from).find(({ nonce }) => nonce === checked.nonce);
    if (!present) return null;
    const isHigher = (fee: bigint, than: bigint) => fee * 10n >= than * 11n && fee > than;
    if (
      isHigher(checked.maxFeeWei, present.maxFeeWei) &&
      isHigher(checked.priorityFeeWei, present.priorityFeeWei)
    ) {
      return present;
    }
    throw refused('replacement transaction underpriced');
  }

  return {
    async add(raw, { own = false } = {}) {
      const checked = await check(raw, { own });
      const { hash, from, nonce, gasLimit, maxFeeWei, priorityFeeWei, account } = checked;
      if (entries.has(hash)) throw refused('already known');
      if (gasLimit > mostGas) throw refused(`exceeds block gas limit: at most ${mostGas} per transaction`);
      if (nonce < account.nonce) throw refused(`nonce too low: next nonce ${account.nonce}, got ${nonce}`);
      if (account.balanceWei < checked.costWei) throw refused('insufficient funds for gas * price + value');
      expire();
      const replaced = replaceable(checked);
      if (!own) requireRoom(checked, raw, replaced);
      if (replaced) entries.delete(replaced.hash);
      entries.set(hash, {
        ...{ hash, raw, from, nonce, own, gasLimit, maxFeeWei, priorityFeeWei },
        ...{ since: now(), losses: 0 },
      });
      onAdded();
      return hash;
    },
    find: (hash) => entries.get(hash) ?? null,
    nextNonce(address, accountNonce) {
      const nonces = new Set(ofSender(address).map(({ nonce }) => nonce));
      let next = accountNonce;
      while (nonces.has(next)) next += 1;
      return next;
    },
    size: () => entries.size,
    candidates() {
      expire();
      const inOrder = [...inOrderOfNonces(entries.values())];
      // Alone in its block, so that it is known which one it is if the engine is lost again.
      const suspect = inOrder.find(({ losses }) => losses > 0);
      if (suspect) return [suspect.raw];
      let gas = 0;
      const chosen: Hex[] = [];
      for (const { raw, gasLimit } of inOrder) {
        gas += gasLimit;
        if (chosen.length >= mostCandidates || (chosen.length > 0 && gas > mostCandidateGas)) break;
        chosen.push(raw);
      }
      return chosen;
    },
    settle(mined, dropped) {
      for (const hash of [...mined, ...dropped]) entries.delete(hash);
    },
    acquit(raws) {
      for (const entry of entries.values()) if (raws.includes(entry.raw)) entry.losses = 0;
    },
    suspect(raws) {
      const removed: Hex[] = [];
      for (const entry of entries.values()) {
        if (!raws.includes(entry.raw)) continue;
        entry.losses += 1;
        if (entry.losses < 2) continue;
        entries.delete(entry.hash);
        removed.push(entry.hash);
      }
      return removed;
    },
  };
}

/** Senders in the order of their first transaction, our own before others. */
function inOrderOfNonces(entries: Iterable<Entry>): Entry[] {
  const bySender = Map.groupBy(entries, ({ from }) => from);
  const senders = [...bySender.values()].map((own) => own.toSorted((one, other) => one.nonce - other.nonce));
  const isOwn = (group: Entry[]) => group.some(({ own }) => own);
  return [...senders.filter(isOwn), ...senders.filter((group) => !isOwn(group))].flat();
}

function refused(message: string): RpcFault {
  return new RpcFault('refused', message, { code: -32003 });
}
