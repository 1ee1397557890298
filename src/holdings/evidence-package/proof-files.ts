/** The parts of a proof as files that other people's tools read: roots, tokens, certificates, .ots files, block headers. */
import type { Hex } from 'viem';
import { sha256 } from 'viem/utils';
import { fromHex } from '../../proof/hex.ts';
import { fileIn, type OpenTimestampsAnchor } from '../../proof/opentimestamps/anchor.ts';
import { readBitcoinHeader } from '../../proof/opentimestamps/bitcoin-header.ts';
import { type TimestampAnchor, tokenIn } from '../../proof/rfc3161/anchor.ts';
import { judgeTimestamp } from '../../proof/rfc3161/judge.ts';
import { readTimestampAnchor } from '../../proof/rfc3161/reading.ts';
import { shippedRoots } from '../../proof/rfc3161/shipped-roots.ts';
import {
  type Anchor,
  isOpenTimestampsAnchor,
  isTimestampAnchor,
  type Proof,
} from '../../proof/verify/proof.ts';
import type { OperatorRoot } from '../certificates/operator-roots.ts';
import { pemOf } from '../certificates/pem.ts';
import type { PackagedFile } from './zip-archive.ts';

/** A root with what vouches for it: that of the batch, or that of a later batch that covers evidence. */
export interface RootFiles {
  /** Before the names of its files; empty for the batch. */
  folder: string;
  /** The item that a later batch covers; null for the batch itself. */
  covers: string | null;
  root: Hex;
  rootFile: string;
  tokens: TokenFiles[];
  bitcoin: BitcoinFiles[];
  files: PackagedFile[];
}

export interface TokenFiles {
  token: string;
  /** Null if the token comes without. */
  certificates: string | null;
  authority: string;
  /** Milliseconds since 1970. */
  time: number;
  validUntil: number;
  /** Where its certificates lead to; null if that is nobody whom Holdfast or the operator trusts. */
  root: { name: string; fingerprint: Hex } | null;
  /** The root that the operator chose, in PEM; null for one that ships. */
  rootFile: string | null;
}

export interface BitcoinFiles {
  proof: string;
  blocks: { header: string; height: number; hash: Hex; merkleRoot: Hex }[];
}

export async function proofFiles(proof: Proof, operatorRoots: readonly OperatorRoot[]): Promise<RootFiles[]> {
  const { merkle, anchors, renewals } = proof;
  const all = [await rootFiles('', { root: merkle.root, anchors, covers: null }, operatorRoots)];
  for (const [place, { root, anchors, covers }] of renewals.entries()) {
    const container = all[covers.renewal === null ? 0 : covers.renewal + 1];
    const item = container && itemName(container, covers.anchor, anchorsIn(proof, covers.renewal));
    all.push(await rootFiles(`renewal-${place + 1}/`, { root, anchors, covers: item ?? '' }, operatorRoots));
  }
  return all;
}

function anchorsIn({ anchors, renewals }: Proof, renewal: number | null): Anchor[] {
  return renewal === null ? anchors : (renewals[renewal]?.anchors ?? []);
}

/** The file that an anchor became. */
function itemName({ folder, rootFile }: RootFiles, anchor: number | null, anchors: Anchor[]): string {
  const found = anchor === null ? undefined : anchors[anchor];
  if (!found) return rootFile;
  const number = anchors.slice(0, anchor ?? 0).filter(({ type }) => type === found.type).length + 1;
  return isTimestampAnchor(found) ? `${folder}token-${number}.tst` : `${folder}timestamp-${number}.ots`;
}

async function rootFiles(
  folder: string,
  { root, anchors, covers }: { root: Hex; anchors: Anchor[]; covers: string | null },
  operatorRoots: readonly OperatorRoot[],
): Promise<RootFiles> {
  const rootFile = `${folder}root.bin`;
  const files: PackagedFile[] = [{ path: rootFile, bytes: fromHex(root) }];
  const tokens: TokenFiles[] = [];
  for (const [place, anchor] of anchors.filter(isTimestampAnchor).entries()) {
    const name = `${folder}token-${place + 1}`;
    const token = await tokenFiles(name, anchor, { root, operatorRoots });
    tokens.push(token.about);
    files.push(...token.files);
  }
  const bitcoin = anchors
    .filter(isOpenTimestampsAnchor)
    .map((anchor, place) => bitcoinFiles(folder, place + 1, anchor));
  files.push(...bitcoin.flatMap((one) => one.files));
  return { folder, covers, root, rootFile, tokens, bitcoin: bitcoin.map(({ about }) => about), files };
}

async function tokenFiles(
  name: string,
  anchor: TimestampAnchor,
  { root, operatorRoots }: { root: Hex; operatorRoots: readonly OperatorRoot[] },
): Promise<{ about: TokenFiles; files: PackagedFile[] }> {
  const { pool, token } = readTimestampAnchor(anchor);
  const judged = await judgeTimestamp(anchor, {
    imprint: fromHex(sha256(fromHex(root))),
    trust: { roots: [...shippedRoots, ...operatorRoots.map(({ anchor }) => anchor)], policies: [] },
    at: token.info.time,
  });
  if (judged.status === 'fail') throw new Error(`a stored token is wrong: ${judged.reason}`);
  const certificates = pool.map(({ name, bytes }) => `# ${name}\n${pemOf(bytes)}`).join('');
  const chosen = operatorRoots.find(({ anchor }) => anchor.fingerprint === judged.root?.fingerprint);
  const isShipped = shippedRoots.some(({ fingerprint }) => fingerprint === judged.root?.fingerprint);
  const own = chosen && !isShipped ? [{ path: `${name}-root.pem`, bytes: Buffer.from(chosen.pem) }] : [];
  return {
    about: {
      token: `${name}.tst`,
      certificates: certificates === '' ? null : `${name}-certificates.pem`,
      authority: judged.signer?.name ?? 'an authority whose certificate is missing',
      time: token.info.time,
      validUntil: judged.validUntil ?? token.info.time,
      root: judged.root ?? null,
      rootFile: own[0]?.path ?? null,
    },
    files: [
      { path: `${name}.tst`, bytes: tokenIn(anchor) },
      ...own,
      ...(certificates === ''
        ? []
        : [{ path: `${name}-certificates.pem`, bytes: Buffer.from(certificates) }]),
      ...anchor.crls.map((crl, place) => ({
        path: `${name}-revoked-${place + 1}.crl`,
        bytes: Buffer.from(crl, 'base64'),
      })),
    ],
  };
}

function bitcoinFiles(
  folder: string,
  number: number,
  anchor: OpenTimestampsAnchor,
): { about: BitcoinFiles; files: PackagedFile[] } {
  const proof = `${folder}timestamp-${number}.ots`;
  const blocks = anchor.headers.map(({ height, header }) => {
    const { hash, merkleRoot } = readBitcoinHeader(header);
    const shown: Hex = `0x${Buffer.from(merkleRoot).reverse().toString('hex')}`;
    return { header: `${folder}timestamp-${number}-block-${height}.header`, height, hash, merkleRoot: shown };
  });
  return {
    about: { proof, blocks },
    files: [
      { path: proof, bytes: fileIn(anchor) },
      ...anchor.headers.map(({ header }, place) => ({
        path: blocks[place]?.header ?? '',
        bytes: fromHex(header),
      })),
    ],
  };
}
