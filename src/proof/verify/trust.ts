/** Whom a verifier trusts: the shipped choice, or the file that the person who verifies gives instead. */
import type { Hex } from 'viem';
import { type Finality, knownChain } from '../evm/known-chains.ts';
import {
  type Check,
  eachOf,
  exactly,
  type Fault,
  hexOf,
  integerUpTo,
  matching,
  objectOf,
} from '../json-shape.ts';
import type { TrustAnchor } from '../rfc3161/certificates.ts';
import { readTrustAnchor } from '../rfc3161/certificates.ts';
import type { TimestampTrust } from '../rfc3161/judge.ts';
import { type Crl, readCrlPem } from '../rfc3161/revocation.ts';
import { shippedRoots } from '../rfc3161/shipped-roots.ts';

export const trustFormat = 'holdfast/trust@1';

export interface TrustedChain {
  chainId: number;
  genesisHash: Hex;
  finality: Finality;
}

export interface Trust {
  /** Whether it is the one that ships, and not somebody's own choice. */
  isShipped: boolean;
  /** Beside the known public chains. */
  chains: readonly TrustedChain[];
  /** Blocks whose hashes need not be asked for, and that count as final. */
  blocks: readonly { chainId: number; number: number; hash: Hex }[];
  tsaRoots: readonly TrustAnchor[];
  /** Object identifiers; any policy if there is none. */
  tsaPolicies: readonly string[];
  /** Lists of revoked certificates: they count beside those of a proof, which whoever hands it on may leave out. */
  crls: readonly Crl[];
  /** Fingerprints (SHA-256) of certificates that do not count. */
  revoked: readonly Hex[];
  bitcoin: readonly { height: number; hash: Hex }[];
}

export const shippedTrust: Trust = {
  isShipped: true,
  chains: [],
  blocks: [],
  tsaRoots: shippedRoots,
  tsaPolicies: [],
  crls: [],
  revoked: [],
  bitcoin: [],
};

/** What it says about timestamp authorities. */
export function timestampTrust({ tsaRoots, tsaPolicies, crls, revoked }: Trust): TimestampTrust {
  return { roots: tsaRoots, policies: tsaPolicies, crls, revoked };
}

/** The chain as the verifier knows it; null if nobody does. Test networks are known, but their clocks are not trusted. */
export function trustedChain(
  chainId: number,
  { chains }: Trust,
): { genesisHashes: Hex[]; finality: Finality; isTrusted: boolean; isShipped: boolean; name: string } | null {
  const named = chains.filter((chain) => chain.chainId === chainId);
  const [first] = named;
  if (first) {
    const genesisHashes = named.map(({ genesisHash }) => genesisHash);
    return {
      genesisHashes,
      finality: first.finality,
      isTrusted: true,
      isShipped: false,
      name: `chain ${chainId}`,
    };
  }
  const known = knownChain(chainId);
  if (!known) return null;
  const { genesisHash, finality, test, name } = known;
  return { genesisHashes: [genesisHash], finality, isTrusted: !test, isShipped: true, name };
}

/** Takes parsed JSON; throws an Error that says what is wrong and where. */
export function readTrust(document: unknown): Trust {
  const [fault] = checkTrust(document, '');
  if (fault) throw new Error(`${fault.path || 'It'} ${fault.message}.`);
  const given = document as Partial<Omit<Trust, PemMember>> & { [Name in PemMember]?: string[] };
  return {
    isShipped: false,
    chains: given.chains ?? [],
    blocks: given.blocks ?? [],
    tsaRoots: eachPem(given.tsaRoots, 'tsaRoots', 'a certificate', readTrustAnchor),
    tsaPolicies: given.tsaPolicies ?? [],
    crls: eachPem(given.crls, 'crls', 'a list of revoked certificates', readCrlPem),
    revoked: given.revoked ?? [],
    bitcoin: given.bitcoin ?? [],
  };
}

type PemMember = 'tsaRoots' | 'crls';

function eachPem<Read>(
  pems: readonly string[] | undefined,
  ...[member, what, read]: [member: PemMember, what: string, read: (pem: string) => Read]
): Read[] {
  return (pems ?? []).map((pem, place) => {
    try {
      return read(pem);
    } catch (error) {
      throw new Error(`${member}[${place}] is not ${what} in PEM: ${(error as Error).message}`);
    }
  });
}

const hash = hexOf(32);
const safeInteger = integerUpTo(Number.MAX_SAFE_INTEGER);
const most = { max: 10_000 };

/** The `finalized` tag of the chain, or a number of blocks below its head. */
const checkFinality: Check = (value, path) =>
  value === 'finalized'
    ? []
    : integerUpTo(1_000_000)(value, path).map(({ path }) => ({
        path,
        message: 'is neither "finalized" nor a number of blocks up to 1000000',
      }));

const members: Record<string, Check> = {
  chains: eachOf(objectOf({ chainId: safeInteger, genesisHash: hash, finality: checkFinality }), most),
  blocks: eachOf(objectOf({ chainId: safeInteger, number: safeInteger, hash }), most),
  tsaRoots: eachOf(matching(/^[\s\S]{1,20000}$/u, 'a certificate in PEM'), { max: 256 }),
  tsaPolicies: eachOf(matching(/^[0-2](\.(0|[1-9][0-9]{0,18})){1,30}$/u, 'an object identifier'), {
    max: 256,
  }),
  crls: eachOf(textUpTo(1_500_000, 'a list of revoked certificates in PEM'), { max: 64 }),
  revoked: eachOf(hash, most),
  bitcoin: eachOf(objectOf({ height: integerUpTo(2 ** 32 - 1), hash }), { max: 1_000_000 }),
};

/** Characters, not bytes or halves of them; more than a regular expression can count. */
function textUpTo(max: number, what: string): Check {
  return (value, path) =>
    typeof value === 'string' && value.length <= 2 * max && [...value].length <= max
      ? []
      : [{ path, message: `is not ${what}` }];
}

/** Every member but the format is optional. */
function checkTrust(value: unknown, path: string): Fault[] {
  const given =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const present = Object.entries(members).filter(([name]) => given.includes(name));
  return objectOf({ format: exactly(trustFormat), ...Object.fromEntries(present) })(value, path);
}
