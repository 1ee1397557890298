/** A real anvil for tests: a fresh chain in memory that mines each transaction at once, with funded accounts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Account,
  type Address,
  createTestClient,
  defineChain,
  type Hash,
  type Hex,
  http,
  keccak256,
  publicActions,
  stringToHex,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  toHex,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { pathOf } from '../programs/needs.ts';
import { startUntil, waitUntil } from '../service/process.ts';

export interface Anvil {
  url: string;
  client: AnvilClient;
  /** Accounts with 1,000 ether each. */
  accounts: [Account, Account, Account];
  /** Waits for the receipt; viem's own waiting misses a late one when no further block follows. */
  mined(hash: Hash): Promise<TransactionReceipt>;
  stop(): Promise<void>;
}

export interface AnvilOptions {
  /** Additional accounts in the genesis block. */
  alloc?: Record<Address, { nonce?: Hex; balance: Hex; code?: Hex }>;
  chainId?: number;
  args?: string[];
}

export type AnvilClient = ReturnType<typeof connect>;

export async function startAnvil({
  alloc = {},
  chainId = 31_337,
  args = [],
}: AnvilOptions = {}): Promise<Anvil> {
  const accounts: Anvil['accounts'] = [account('one'), account('two'), account('three')];
  const funded = accounts.map(({ address }) => [address, { balance: toHex(10n ** 21n) }]);
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-anvil-'));
  const genesisFile = join(dir, 'genesis.json');
  await writeFile(
    genesisFile,
    JSON.stringify({
      config: { chainId },
      difficulty: '0x0',
      // The default is 0: the chain's clock would start there, and several first blocks would have the time 0.
      timestamp: toHex(Math.floor(Date.now() / 1000)),
      gasLimit: toHex(30_000_000),
      alloc: { ...Object.fromEntries(funded), ...alloc },
    }),
  );

  // Port 0 lets the system choose. Anvil includes the CREATE2 deployer unless told otherwise; chains do not.
  const own = ['--host', '127.0.0.1', '--port', '0', '--accounts', '0', '--no-cors', '--no-create2'];
  const { running, match } = await startUntil(/Listening on (\S+)/, {
    program: pathOf('anvil'),
    args: [...own, '--chain-id', String(chainId), '--hardfork', 'prague', '--init', genesisFile, ...args],
    settings: {},
  });
  const kill = (): boolean => running.child.kill('SIGKILL');
  process.once('exit', kill);

  const url = `http://${match[1]}`;
  const client = connect(url, chainId);
  return {
    url,
    client,
    accounts,
    mined: (hash) =>
      waitUntil(() =>
        client.getTransactionReceipt({ hash }).catch((error: unknown) => {
          if (error instanceof TransactionReceiptNotFoundError) return null;
          throw error;
        }),
      ),
    async stop() {
      kill();
      await running.exited;
      process.off('exit', kill);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function connect(url: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  // An emulated node is slow with a few hundred blocks.
  const transport = http(url, { timeout: 60_000 });
  return createTestClient({ mode: 'anvil', chain, transport, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}

function account(name: string): Account {
  return privateKeyToAccount(keccak256(stringToHex(`holdfast test account ${name}`)));
}
