/**
 * `holdfast chain`: shows the chain, deploys the registry, resends batches, accepts a reorganisation of final blocks,
 * and pays from the embedded chain's faucet.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { isAcceptableAddress } from '../runtime/address.ts';
import { OperatorError } from '../runtime/errors.ts';
import { withKeyring } from './chain-context.ts';
import { print, withStore } from './command.ts';

interface Options {
  json?: boolean;
}

export function addChainCommands(program: Command): void {
  const chain = program.command('chain').description('show, prepare and test the chain');
  chain
    .command('status')
    .description('show the head, the account that anchors are sent from, and what is pending')
    .option('--json', 'print one object')
    .action((options: Options) =>
      withKeyring(async (context) => {
        const { readChainStatus, tellChainStatus } = await import('./chain-status.ts');
        const status = await readChainStatus(context);
        print(options, status, tellChainStatus(status));
      }),
    );
  chain
    .command('deploy')
    .description('deploy the anchor registry on the chain of HOLDFAST_CHAIN_RPC_URLS')
    .option('--json', 'print {chainId, registry, transactionHash}')
    .action((options: Options) =>
      withKeyring(
        async (context) => {
          const { deployRegistry } = await import('./chain-deploy.ts');
          const outcome = await deployRegistry(context);
          const { chainId, registry, transactionHash } = outcome;
          const told =
            transactionHash === null
              ? `Chain ${chainId} already has the registry, at ${registry}.`
              : `The registry is at ${registry} on chain ${chainId} (transaction ${transactionHash}).`;
          print(options, outcome, told);
        },
        { mayCreate: true },
      ),
    );
  chain
    .command('retry')
    .description('retry batches that were set aside')
    .argument('[batch]', 'number of a batch, as shown by status', parseBatch)
    .option('--all', 'retry all of them')
    .option('--json', 'print an array of {id, size, reason}')
    .action((batch: number | undefined, options: Options & { all?: boolean }) =>
      withStore(async ({ store }) => {
        if (batch !== undefined && options.all)
          throw new OperatorError('Name a batch or give --all, not both.');
        const { retryBatches, tellRetried } = await import('./chain-retry.ts');
        const retried = await retryBatches(store.database.db, options.all ? 'all' : (batch ?? null));
        print(options, retried, tellRetried(retried));
      }),
    );
  chain
    .command('accept-reorg')
    .description('accept a reorganisation of the chain that removes blocks which counted as final')
    .argument(
      '<block>',
      'number of the last block that stays, as given in the log of the service',
      parseBlock,
    )
    .option('--json', 'print {finalBlock, formerFinalBlock}')
    .action((block: number, options: Options) =>
      withStore(async ({ store }) => {
        const { acceptReorg } = await import('../chain/indexer/accept-reorg.ts');
        const accepted = await acceptReorg(store.database.db, block);
        print(
          options,
          accepted,
          `The leading node follows the chain from block ${block} on, and anchors again what was lost. See "holdfast chain status".`,
        );
      }),
    );
  chain
    .command('fund')
    .description('send funds on the embedded chain to an address, in a real transaction')
    .argument('<address>', 'address of the recipient', parseAddress)
    .argument('<wei>', 'amount in wei', parseWei)
    .option('--json', 'print {transactionHash}')
    .action((to: string, amountWei: bigint, options: Options) =>
      withKeyring(async (context) => {
        const { fund } = await import('./chain-fund.ts');
        const { transactionHash, blockNumber } = await fund(context, { to, amountWei });
        print(options, { transactionHash }, `${transactionHash}\n\nMined in block ${blockNumber}.`);
      }),
    );
}

function parseAddress(text: string): string {
  if (!isAcceptableAddress(text))
    throw new InvalidArgumentError(
      'Give 0x followed by 40 hexadecimal digits: all lower case, all upper case, or with a correct checksum.',
    );
  return text.toLowerCase();
}

function parseBatch(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the number of a batch.');
  return Number(text);
}

function parseBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give the number of a block.');
  return Number(text);
}

/** The faucet's initial balance. */
const mostWei = 10n ** 27n;

function parseWei(text: string): bigint {
  if (!/^\d{1,28}$/.test(text) || BigInt(text) > mostWei || BigInt(text) === 0n)
    throw new InvalidArgumentError('Give a whole number of wei, from 1 to 10^27 (1 ether is 10^18 wei).');
  return BigInt(text);
}
