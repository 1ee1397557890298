/** A chain of the test's own, mined by the test, behind an RPC address that breaks on demand; the registry is deployed on it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, type Hex, parseEther } from 'viem';
import { deployerAddress, deployerRuntimeCode } from '../../src/chain/registry/registry.ts';
import { type Anvil, startAnvil } from '../support/chain/anvil.ts';
import { type RpcProxy, startRpcProxy } from '../support/chain/rpc-proxy.ts';
import { command } from '../support/service/commands.ts';
import type { Settings } from '../support/service/process.ts';

export interface RpcSide {
  anvil: Anvil;
  proxy: RpcProxy;
  settings: Settings;
  confirmations: number;
  submitter: Address;
  /** No block is mined until the work is done. */
  withoutBlocks<T>(work: () => Promise<T>): Promise<T>;
  /** Each block from now on has at least this base fee; null: whatever the chain makes of it. */
  setBaseFee(wei: bigint | null): void;
  /** Hashes of the service's transactions that wait to be mined. */
  inPool(): Promise<Hex[]>;
  /** Another chain with the same id stands behind the address; with null the right one again. */
  standIn(other: Anvil | null): void;
  close(): Promise<void>;
}

export const chainId = 31_337;
const confirmations = 2;
const blockMs = 500;
/** Far more than a reorg of the test takes back; all of it would be a gigabyte after 3,000 blocks. */
const keptStates = '400';

/** Common deployers are part of the genesis, as on public chains. */
export function startFaultAnvil(alloc: Record<Address, { balance: Hex; code?: Hex }> = {}): Promise<Anvil> {
  return startAnvil({
    chainId,
    alloc: { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode }, ...alloc },
    args: ['--no-mining', '--order', 'fifo', '--prune-history', keptStates],
  });
}

/** `own`: the settings of the first node, whose database says who submits. */
export async function openRpcSide(own: Settings): Promise<RpcSide> {
  const anvil = await startFaultAnvil();
  let target = anvil.url;
  const proxy = await startRpcProxy(() => target);
  const miner = startMiner(anvil);
  const settings: Settings = {
    HOLDFAST_CHAIN_RPC_URLS: proxy.url,
    HOLDFAST_CHAIN_CONFIRMATIONS: String(confirmations),
    HOLDFAST_ANCHOR_INTERVAL_MS: '1000',
  };
  async function close(): Promise<void> {
    await miner.stop();
    await proxy.close();
    await anvil.stop();
  }
  try {
    await run('migrate');
    const { submitter } = await json('status');
    await anvil.client.setBalance({ address: submitter, value: parseEther('100') });
    await json('deploy');
    return {
      anvil,
      proxy,
      settings,
      confirmations,
      submitter,
      withoutBlocks: miner.without,
      setBaseFee: miner.setBaseFee,
      async inPool() {
        const { pending, queued } = await anvil.client.getTxpoolContent();
        return [pending, queued].flatMap((part) =>
          Object.entries(part)
            .filter(([address]) => address.toLowerCase() === submitter.toLowerCase())
            .flatMap(([, byNonce]) => Object.values(byNonce).map(({ hash }) => hash)),
        );
      },
      standIn(other) {
        target = (other ?? anvil).url;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }

  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await command({ ...own, ...settings }, ...args);
    if (code !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  async function json(name: string) {
    return JSON.parse(await run('chain', name, '--json'));
  }
}

function startMiner({ client }: Anvil) {
  let stopping = false;
  let baseFee: bigint | null = null;
  /** One after the other: blocks, and whatever wants none of them. */
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  }
  async function mine(): Promise<void> {
    if (baseFee !== null) await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
    await client.mine({ blocks: 1 });
  }
  const mining = (async () => {
    while (!stopping) {
      await inTurn(mine);
      await sleep(blockMs);
    }
  })();
  // Whoever stops it is told.
  mining.catch(() => {});
  return {
    without: inTurn,
    setBaseFee(wei: bigint | null) {
      baseFee = wei;
    },
    async stop() {
      stopping = true;
      await mining;
    },
  };
}
