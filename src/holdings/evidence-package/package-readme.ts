/** README.txt of an evidence package: what each file is, and how to check it with tools that are not ours. */
import type { Hex } from 'viem';
import { knownChain } from '../../proof/evm/known-chains.ts';
import { isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import type { BitcoinFiles, RootFiles, TokenFiles } from './proof-files.ts';

export interface ReadmeInput {
  madeAt: Date;
  /** Such as `version 2 of the file fil_…`. */
  subject: string;
  proof: Proof;
  content: PackagedContent;
  roots: RootFiles[];
  hasCertificate: boolean;
  /** The operator has chosen roots for timestamps: they are in trust.json. */
  hasOperatorRoots: boolean;
  /** The chain of the proof is the known public one of its id. */
  isPublicChain: boolean;
}

export type PackagedContent =
  | { path: string; saltPath: string | null }
  /** Why it is not in the package. */
  | { missing: string };

/** Debian's package ca-certificates; other systems have a file like it. */
const systemRoots = '/etc/ssl/certs/ca-certificates.crt';

/** Commands are the lines with four spaces before them; they run in the folder of the unpacked package. */
export function packageReadme(input: ReadmeInput): string {
  const { madeAt, subject, roots, content } = input;
  return `${[
    'EVIDENCE PACKAGE',
    '',
    `This is the evidence for ${subject},`,
    `packed on ${isoSeconds(madeAt.getTime())}. It shows which vault sealed the content, and, to whoever trusts one of those who`,
    'vouch for it below, that the content existed at that time. Each part can be checked without the service that',
    'made it, and without its programs. Unpack the archive and run the commands in its folder. Commands are the',
    'lines that begin with four spaces; openssl, sha256sum and Python come with Linux, or can be installed on any',
    'system.',
    '',
    ...filesPart(input),
    ...contentPart(content, input.proof),
    ...rootPart(input.proof, content),
    ...roots.flatMap((root) => [
      ...coverPart(root),
      ...root.tokens.flatMap((token) => tokenPart(token, root, madeAt)),
    ]),
    ...roots.flatMap(({ bitcoin, rootFile }) => bitcoin.flatMap((one) => bitcoinPart(one, rootFile))),
    ...chainPart(input),
    'WHAT THIS DOES NOT SHOW',
    '',
    'That the content is true or complete, who wrote it, or when it was created: it existed at the time for',
    'which somebody vouches, and may be older. A seal identifies a vault, not a person: declaration.txt is a',
    'template for the person who certifies this record, to be filled in and signed.',
  ].join('\r\n')}\r\n`;
}

function filesPart({ content, roots, hasCertificate, hasOperatorRoots }: ReadmeInput): string[] {
  const named: [string, string][] = [
    ...('path' in content ? [[content.path, 'the content'] as [string, string]] : []),
    ...('path' in content && content.saltPath
      ? [[content.saltPath, 'the 32 bytes that are hashed before it'] as [string, string]]
      : []),
    ['proof.json', 'the proof (format holdfast/proof@1): everything else here follows from it'],
    ['root.bin', 'the 32 bytes that stand for the whole batch, for which others vouch'],
    ...(roots.some(({ tokens }) => tokens.length > 0)
      ? ([
          ['token-*.tst', 'timestamps of authorities (RFC 3161), in DER'],
          ['token-*-certificates.pem', 'the certificates of those who signed them'],
          ['token-*-root.pem', 'the root certificate, if the operator of the service chose it'],
          ['token-*-revoked-*.crl', 'lists of revoked certificates of that time, if the authority has any'],
        ] as [string, string][])
      : []),
    ...(roots.some(({ bitcoin }) => bitcoin.length > 0)
      ? ([
          ['timestamp-*.ots', 'OpenTimestamps proofs'],
          ['timestamp-*-block-*.header', 'the headers of the Bitcoin blocks that they lead to'],
        ] as [string, string][])
      : []),
    ...(roots.length > 1
      ? [['renewal-*/', 'later batches that cover this evidence, with the same files'] as [string, string]]
      : []),
    ...(hasOperatorRoots
      ? [
          ['trust.json', 'roots that the operator of the service chose: use it only if you agree'] as [
            string,
            string,
          ],
        ]
      : []),
    ['trust.txt', 'whom Holdfast trusts by itself, and whom the operator added'],
    ...(hasCertificate ? [['certificate.pdf', 'the same for people to read'] as [string, string]] : []),
    ['declaration.txt', 'a template for the person who certifies the record'],
  ];
  return ['FILES', '', ...named.map(([name, about]) => `  ${name.padEnd(27)} ${about}`), ''];
}

function contentPart(content: PackagedContent, { content: { digest, canonicalization } }: Proof): string[] {
  const wanted = digest.slice(2);
  if ('missing' in content) {
    const how =
      canonicalization === 'hmac-sha256'
        ? ['The HMAC-SHA-256 of your copy under the key that its owner keeps must be']
        : ['The SHA-256 of your copy must be'];
    return ['THE CONTENT', '', content.missing, ...how, `  ${wanted}`, ''];
  }
  const { path, saltPath } = content;
  const command =
    saltPath === null ? `sha256sum ${quoted(path)}` : `cat ${quoted(saltPath)} ${quoted(path)} | sha256sum`;
  return [
    'THE CONTENT',
    '',
    'The fingerprint of the content must be content.digest in proof.json:',
    '',
    `    ${command}`,
    '',
    'It must print:',
    `  ${wanted}`,
    '',
  ];
}

function rootPart({ merkle }: Proof, content: PackagedContent): string[] {
  const given = 'path' in content ? ` ${quoted(content.path)}` : '';
  return [
    'FROM THE CONTENT TO THE ROOT',
    '',
    'proof.json leads from that fingerprint over the seal of the vault to the root of the batch, by hashes that',
    'anybody can recompute: the document "Proofs" of Holdfast describes every step, and its source code has',
    `two verifiers, "holdfast verify proof.json${given}" and another one in Python. The root must be the`,
    'bytes of root.bin:',
    '',
    '    od -An -v -tx1 root.bin | tr -d " \\n"',
    '',
    'It must print merkle.root of proof.json:',
    `  ${merkle.root.slice(2)}`,
    '',
  ];
}

function coverPart({ folder, covers, rootFile }: RootFiles): string[] {
  if (covers === null) return [];
  return [
    `LATER BATCH ${folder}`,
    '',
    `The head of a later batch covers ${covers}: whoever vouches for ${rootFile} vouches that`,
    `${covers} existed before. "renewals" in proof.json has the path from one to the other.`,
    '',
  ];
}

function tokenPart(token: TokenFiles, { rootFile }: RootFiles, madeAt: Date): string[] {
  const { root, authority, time, validUntil } = token;
  const isEnded = validUntil < madeAt.getTime();
  const command = [
    `openssl ts -verify -token_in -in ${token.token} -data ${rootFile}`,
    `-CAfile ${root === null ? 'ROOT.pem' : (token.rootFile ?? systemRoots)}`,
    ...(token.certificates === null ? [] : [`-untrusted ${token.certificates}`]),
    ...(isEnded ? [`-attime ${Math.floor(time / 1000)}`] : []),
  ].join(' ');
  return [
    `TIMESTAMP ${token.token}`,
    '',
    `${authority} stamped ${rootFile} on ${isoSeconds(time)}.`,
    ...rootWords(token),
    `The certificate of the authority ends on ${isoSeconds(validUntil)}.`,
    ...(isEnded
      ? [
          'It has ended, so the command asks whether the token was right when it was made; that it is not',
          'younger, a later batch has to show.',
        ]
      : ['Once it has ended, openssl accepts the token only as of a time before, given by -attime.']),
    '',
    `    ${command}`,
    '',
    'It must print "Verification: OK". To see what the token says:',
    '',
    `    openssl ts -reply -token_in -in ${token.token} -token_out -text`,
    '',
  ];
}

function rootWords({ root, rootFile }: TokenFiles): string[] {
  if (root === null) {
    return [
      'Its certificates lead to no root that Holdfast or the operator of the service trusts. If you trust the',
      'authority, get its root certificate from it and use it as ROOT.pem.',
    ];
  }
  const leads = [`Its certificates lead to the root ${root.name}`, `(SHA-256 ${root.fingerprint.slice(2)}),`];
  return rootFile === null
    ? [...leads, 'which Debian and most systems trust.']
    : [...leads, 'which the operator of the service chose. Decide for yourself whether you trust it.'];
}

function bitcoinPart({ proof, blocks }: BitcoinFiles, rootFile: string): string[] {
  const read = [
    `import sys; from opentimestamps.core.serialize import StreamDeserializationContext as S`,
    `from opentimestamps.core.timestamp import DetachedTimestampFile as D`,
    `d = D.deserialize(S(open(sys.argv[1], "rb"))); print(d.file_digest.hex())`,
    `[print(a, m[::-1].hex()) for m, a in d.timestamp.all_attestations()]`,
  ].join('; ');
  return [
    `OPENTIMESTAMPS ${proof}`,
    '',
    `It must be for the SHA-256 of ${rootFile}, and lead to the Merkle root of a Bitcoin block. With the`,
    'OpenTimestamps client and a Bitcoin node, "ots verify -f FILE PROOF" checks both. With its library',
    '(python3-opentimestamps) alone, this prints the digest, then each block with its Merkle root:',
    '',
    `    sha256sum ${rootFile}`,
    `    python3 -c '${read}' ${proof}`,
    '',
    ...blocks.flatMap(({ header, height, hash, merkleRoot }) => [
      `For block ${height} it must print the Merkle root`,
      `  ${merkleRoot.slice(2)}`,
      `The header of that block is ${header}. This prints its hash and its Merkle root:`,
      '',
      `    python3 -c '${headerProgram}' ${header}`,
      '',
      `Compare the hash with what any Bitcoin node or explorer says about block ${height}:`,
      `  ${hash.slice(2)}`,
      '',
    ]),
  ];
}

const headerProgram = [
  'import sys, hashlib',
  'h = open(sys.argv[1], "rb").read()',
  'print(hashlib.sha256(hashlib.sha256(h).digest()).digest()[::-1].hex())',
  'print(h[36:68][::-1].hex())',
].join('; ');

function chainPart({ proof, isPublicChain }: ReadmeInput): string[] {
  const anchor = proof.anchors.find(isEvmAnchor);
  if (!anchor) return [];
  const { chainId, blockNumber, blockHash, transactionHash, contract } = anchor;
  const known = isPublicChain ? knownChain(chainId) : null;
  const facts: [string, string | Hex][] = [
    ['Block', `${blockNumber}, ${isoSeconds(anchor.blockTime * 1000)}`],
    ['Block hash', blockHash],
    ['Transaction', transactionHash],
    ['Contract', contract],
  ];
  return [
    'BLOCKCHAIN',
    '',
    ...(known
      ? [
          `The root is in a log of the contract on ${known.name} (chain id ${chainId}). Look at the transaction with any`,
          'explorer or node, and find merkle.root of proof.json as a topic of its log:',
          `  ${known.explorer}/tx/${transactionHash}`,
        ]
      : [
          `The root is also in a log of the contract on chain ${chainId}, which is not a known public chain: its times`,
          'are evidence only for those who trust whoever runs it.',
        ]),
    ...facts.map(([name, value]) => `  ${name.padEnd(12)} ${value}`),
    '',
  ];
}

/** Single quotes keep the shell from reading anything in a name. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path}'`;
}

function isoSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}
