/** Settings of the chain used for anchoring. */
import { checksummed, isAcceptableAddress } from '../runtime/address.ts';
import { countTo, type Given, optional, setting, splitList } from './setting.ts';

const rpcUrlsName = 'HOLDFAST_CHAIN_RPC_URLS';
const isEmbedded = ({ text }: Given): boolean => text(rpcUrlsName) === null;

export const chainSettings = {
  /** In order of preference; none: the embedded chain. Each may contain a key and is never printed in full. */
  rpcUrls: optional<string[], string[]>(
    {
      name: rpcUrlsName,
      default: { words: 'none: the embedded chain' },
      about: 'RPC addresses of an EVM chain, `http` or `https`, separated by commas, in order of preference.',
      see: '[chain.md](chain.md#a-real-chain)',
      expected: 'give addresses separated by commas',
      parse(text, { refuse }) {
        const urls = splitList(text);
        urls.forEach((url, place) => {
          // It may contain a key, so the message does not repeat it.
          if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
            refuse(
              `${rpcUrlsName} has something else than an http or https address at place ${place + 1}: give addresses separated by commas.`,
            );
        });
        return urls;
      },
    },
    () => [],
  ),
  /** Blocks, including its own, after which a transaction counts as confirmed; null: the default of the chain. */
  confirmations: optional({
    name: 'HOLDFAST_CHAIN_CONFIRMATIONS',
    default: { words: '1 on the embedded chain, else 12' },
    about: 'Blocks, its own included, after which a transaction counts as confirmed.',
    ...countTo(10_000),
  }),
  /** null: the address of the registry that is the same on every chain. */
  registryAddress: optional({
    name: 'HOLDFAST_REGISTRY_ADDRESS',
    default: { words: 'the address that `holdfast chain deploy` gives it on every chain' },
    about: `Where the anchor registry is; only together with \`${rpcUrlsName}\`.`,
    expected: 'give 0x and 40 hexadecimal digits, mixed case only with its checksum',
    parse(text, given) {
      if (!isAcceptableAddress(text)) return undefined;
      if (isEmbedded(given))
        given.refuse(`HOLDFAST_REGISTRY_ADDRESS goes with ${rpcUrlsName}: set both, or only the latter.`);
      return checksummed(text);
    },
  }),
  /** How long accepted content is collected before one transaction anchors it. */
  anchorIntervalMs: optional(
    {
      name: 'HOLDFAST_ANCHOR_INTERVAL_MS',
      default: { words: '1000 on the embedded chain, else 300000' },
      about:
        'How long accepted content is gathered before it is anchored with one transaction, in milliseconds.',
      ...countTo(86_400_000),
    },
    // On other chains each anchor costs money, however much it contains.
    (given) => (isEmbedded(given) ? 1_000 : 300_000),
  ),
  /** The highest price ever offered for a unit of gas. */
  feeCapGwei: setting({
    name: 'HOLDFAST_FEE_CAP_GWEI',
    default: '500',
    about:
      'The most that is ever offered for a unit of gas, in gwei. While the chain wants more, anchors wait.',
    ...countTo(1_000_000),
  }),
};
