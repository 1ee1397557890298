/** README.txt of a dossier, for someone who finds it years later. */
import type { ChainKind } from '../../holdings/certificates/certificate-input.ts';
import { type Dossier, dossierPaths } from '../dossier-check/dossier-format.ts';

export function dossierReadme(
  {
    dossierId,
    asset,
    owner,
    developmentEvidence,
    attachmentsIncluded,
  }: Pick<Dossier, 'dossierId' | 'asset' | 'owner' | 'developmentEvidence' | 'attachmentsIncluded'>,
  { madeAt, chain }: { madeAt: Date; chain: ChainKind },
): string {
  const identity = [
    ['Asset', asset.assetId],
    ['Name', asset.name],
    ['Serial number', asset.serialNumber],
    ['Part number', asset.partNumber],
    ['Owner', `${owner.name} ${owner.address}`.trim()],
    ['Created', madeAt.toISOString()],
    ['Dossier', dossierId],
  ].map(([name = '', value = '']) => `${name.padEnd(14)} ${oneLine(value) || '-'}`);
  return `${lines(
    'DOSSIER OF AN ASSET',
    '',
    ...identity,
    '',
    'This archive contains the maintenance history of the asset, as the service had it at',
    'the time above. You can read and check it without the service and without a network.',
    `The vault of the owner has sealed ${dossierPaths.summary}, which lists every other file.`,
    `The proof of that is ${dossierPaths.seal}. The time above is a statement; the clocks of`,
    'that proof say when it was sealed at the latest. If the proof is missing here, it was not',
    'on the chain yet when this archive was written: ask whoever gave you the archive for the',
    'proof of the dossier, and keep it beside the archive.',
    ...(developmentEvidence
      ? [
          '',
          'DEVELOPMENT EVIDENCE: nobody whom Holdfast trusts by itself vouches for all of its',
          ...developmentLines[chain.chain],
        ]
      : []),
    '',
    'TO READ IT',
    '',
    `  ${dossierPaths.logbook.padEnd(24)} every entry, in the order in which the work was done`,
    `  ${dossierPaths.certificates.padEnd(24)} for every entry that was certified: who performed, inspected and`,
    `${' '.repeat(26)} certified it, and under which licences`,
    '',
    'TO CHECK IT',
    '',
    `  Open ${dossierPaths.page} in a browser and choose this ZIP archive, or the folder that`,
    '  you unpacked it to. Nothing leaves your machine. Without a chain node it checks that',
    '  everything is here, unchanged and consistent, and who signed it. Enter the address of',
    '  a chain node to check also that it was anchored, and when. It lists what it could not',
    '  check. Entries are numbered, and each names the one before, so that none can be missing.',
    '  If you do not trust the person who gave you this archive, take the page from a source',
    '  that you trust: every Holdfast service puts the same page into its dossiers.',
    '',
    'FOR PROGRAMS',
    '',
    `  ${dossierPaths.summary.padEnd(24)} the asset, its owners, where it was installed, what is due, and a list`,
    `${' '.repeat(26)} of all files with their SHA-256 (format ${'holdfast/dossier@1'})`,
    `  ${dossierPaths.seal.padEnd(24)} the proof of that file (holdfast/proof@1)`,
    `  ${dossierPaths.versions.padEnd(24)} the asset as it was described, version by version`,
    `  ${dossierPaths.history.padEnd(24)} the proofs of these and of transfers (holdfast/history@1)`,
    `  ${`${dossierPaths.entries}*.jsonl`.padEnd(24)} one entry per line, with its sign-offs, the typed data`,
    `${' '.repeat(26)} (EIP-712) that workers signed, salts and proofs (holdfast/proof@1)`,
    `  ${dossierPaths.passkeys.padEnd(24)} what was anchored about the passkeys of those who signed, if any`,
    attachmentsIncluded
      ? `  ${dossierPaths.attachments.padEnd(24)} files that belong to entries, if their bytes were stored`
      : `  Files that belong to entries are listed with their hashes; their bytes are not included.`,
    '',
    '  The hash of an entry is the SHA-256 of its salt followed by its "entry" in RFC 8785',
    '  form. "holdfast verify PROOF ENTRY --rpc URL" checks one proof on a command line. The',
    `  content of ${dossierPaths.seal} is ${dossierPaths.summary} itself, byte by byte.`,
  )}\n`;
}

/** They continue "vouches for all of its". */
const developmentLines: Record<ChainKind['chain'], string[]> = {
  embedded: [
    'times. It is anchored on a chain that the operator of the service runs alone and whose',
    'clock the operator can set.',
  ],
  test: ['times. It is anchored on a test network, whose clock is no evidence.'],
  unknown: [
    'times. It is anchored on a chain that is not known publicly and whose clock its operator',
    'may have set.',
  ],
  public: ['times.'],
};

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** CRLF, so that Windows shows lines, too. */
function lines(...all: string[]): string {
  return all.join('\r\n');
}
