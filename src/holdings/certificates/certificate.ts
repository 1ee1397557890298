/** The certificate of one version of a file, as a PDF: what a reader needs to rely on the proof, and the proof itself. */
import { checksumAddress } from 'viem';
import { heading, list, notice, type Pair, pairs, paragraph, title, type Words } from '../../pdf/blocks.ts';
import type { Drawing, Parts } from '../../pdf/drawing.ts';
import { openFace } from '../../pdf/faces.ts';
import { colours, sizes } from '../../pdf/look.ts';
import { createPaper, type Paper } from '../../pdf/paper.ts';
import { drawQrCode } from '../../pdf/qr-code.ts';
import { showable } from '../../pdf/showable.ts';
import { createTable } from '../../pdf/table.ts';
import { toHex } from '../../proof/hex.ts';
import { leafHash } from '../../proof/leaf.ts';
import { type EvmAnchor, isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import type { CertificateClock, CertificateInput, Standing } from './certificate-input.ts';
import {
  chainInWords,
  dateAndTime,
  firstAnchored,
  marksOf,
  notCertified,
  noticesOf,
  number as numeral,
  sizeInWords,
  statement,
  stepsToVerify,
} from './certificate-words.ts';

/** The same bytes for the same input. */
export function drawCertificate(input: CertificateInput): Drawing {
  const { file, madeAt } = input;
  const number = `${file.id}/${file.version}`;
  const paper = createPaper({
    title: `Certificate of anchoring ${number}`,
    subject: 'What was anchored, when and where, and how to verify it',
    madeAt,
    head: ['Certificate of anchoring', number],
    foot: `Created on ${dateAndTime(madeAt)}`,
    marks: marksOf(input),
  });
  return { stream: paper.stream, parts: draw(paper, input, number) };
}

function* draw(paper: Paper, input: CertificateInput, number: string): Parts {
  const { file, proof } = input;
  const anchor = proof.anchors.find(isEvmAnchor);
  if (!anchor) throw new Error(`the proof of ${file.id} has no anchor`);
  title(paper, 'Certificate of anchoring', `Version ${file.version} of the file ${file.id}`);
  for (const { grave, ...words } of noticesOf(input)) {
    notice(paper, { ...words, tone: grave ? colours.alarm : colours.warning });
  }
  heading(paper, 'What is certified');
  paragraph(paper, statement(input), { size: sizes.body + 0.8 });
  if (input.firstAnchoredAt) paragraph(paper, firstAnchored(input.firstAnchoredAt));
  heading(paper, 'The file');
  pairs(paper, aboutFile(input));
  yield 'part';
  heading(paper, 'The vault');
  pairs(paper, aboutVault(input));
  heading(paper, 'Who vouches for the time');
  for (const clock of input.clocks) {
    paper.need(heightOfClock);
    pairs(paper, aboutClock(clock, input.madeAt));
    paper.y += 5;
  }
  if (input.isBitcoinPending) pairs(paper, [{ name: 'OpenTimestamps', value: pending }]);
  yield 'part';
  heading(paper, 'What is not certified');
  list(paper, notCertified);
  heading(paper, 'How to verify it yourself', { keep: 150 });
  verification(paper, input);
  yield 'part';
  heading(paper, 'The proof in words');
  paragraph(
    paper,
    'The proof attached as “proof.json” leads from the file to the block in four steps, and contains what the others named above signed. Anyone can recompute each step.',
  );
  pairs(paper, aboutProof(proof, anchor));
  heading(paper, 'Custody');
  custody(paper, input);
  yield 'part';
  paragraph(
    paper,
    'This document is a reading aid. It carries no signature of its own: what counts is the attached proof, which anyone can check without trusting this document, the service that created it, or its operator.',
    { size: sizes.small, colour: colours.soft },
  );
  paper.attach({
    name: 'proof.json',
    description: `Proof of ${number} in the format ${proof.format}`,
    mediaType: 'application/json',
    bytes: Buffer.from(`${JSON.stringify(proof, null, 2)}\n`),
  });
  paper.end();
}

function aboutFile({ file, proof, madeAt }: CertificateInput): Pair[] {
  const { version, newestVersion, canonicalization } = file;
  const raw = canonicalization === 'raw';
  return [
    { name: 'Name', value: nameInWords(file.name) },
    {
      name: raw ? 'Fingerprint (SHA-256)' : 'Fingerprint (HMAC)',
      value: {
        digits: proof.content.digest.slice(2),
        ...(raw
          ? {}
          : {
              note: 'HMAC-SHA-256 of the content under a key (salt) that only its owner has. Computed by the client.',
            }),
      },
    },
    { name: 'Size', value: sizeInWords(file.size) },
    { name: 'Type', value: file.mediaType },
    {
      name: 'Version',
      value:
        version === newestVersion ? `${version} (the newest)` : `${version} (the newest is ${newestVersion})`,
    },
    ...(file.expiresAt === null
      ? []
      : [
          {
            name: 'Expires',
            value: `${dateAndTime(file.expiresAt)}${file.expiresAt <= madeAt ? ': expired' : ''}`,
          },
        ]),
    { name: 'Accepted', value: dateAndTime(file.createdAt) },
    ...(proof.claims === null
      ? [
          {
            name: 'Note',
            value: 'Name, size and type are no longer covered by the proof: they were erased from it.',
          },
        ]
      : []),
  ];
}

function nameInWords(name: string): Words {
  const text = name || '(none given)';
  if (showable(name, openFace('serifBold')) === name.normalize('NFC')) return { text, strong: true };
  const note = 'Characters that this document cannot show are written as their Unicode number.';
  return { text, strong: true, note };
}

function aboutVault({ vault, workspace }: CertificateInput): Pair[] {
  return [
    { name: 'Name', value: nameInWords(vault.name) },
    { name: 'Address', value: { digits: vault.address } },
    { name: 'Workspace', value: { text: workspace.name || workspace.id, note: workspace.id } },
  ];
}

/** A clock begins on a page that has room for most of it. */
const heightOfClock = 110;

const pending =
  'Pending: it was submitted, and a Bitcoin block will have it within about a day. Download the certificate again then.';

function aboutClock(clock: CertificateClock, madeAt: Date): Pair[] {
  const later = clock.isLater
    ? [{ name: 'Through', value: 'A later batch, whose head covers the batch of this version.' }]
    : [];
  const at = { text: dateAndTime(clock.at), strong: true };
  if (clock.kind === 'block') {
    return [
      {
        name: 'Block',
        value: `${numeral(clock.number)} of ${chainInWords(clock)}, ${clock.isFinal ? 'final' : 'not final yet'}`,
      },
      { name: 'Time of the block', value: at },
      { name: 'Block hash', value: { digits: clock.hash } },
      { name: 'Transaction', value: { digits: clock.transactionHash } },
      ...later,
      { name: 'Whom it convinces', value: blockStanding(clock) },
    ];
  }
  if (clock.kind === 'bitcoin') {
    return [
      { name: 'Bitcoin block', value: `${numeral(clock.height)}, through OpenTimestamps` },
      { name: 'Time of the block', value: { ...at, note: 'Bitcoin’s clock is right to 2 hours.' } },
      { name: 'Block hash', value: { digits: clock.hash } },
      ...later,
      {
        name: 'Whom it convinces',
        value: 'Anybody who finds this hash for that block at a source of Bitcoin blocks that they trust.',
      },
    ];
  }
  return [
    { name: 'Timestamp authority', value: clock.name },
    {
      name: 'Time of the stamp',
      value: { ...at, note: 'The latest, with the accuracy that the authority states (RFC 3161).' },
    },
    ...(clock.root === null
      ? []
      : [
          { name: 'Root certificate', value: clock.root.name },
          { name: '    SHA-256', value: { digits: clock.root.fingerprint.slice(2) } },
        ]),
    {
      name: 'Certificate ends',
      value: {
        text: dateAndTime(clock.validUntil),
        note: clock.isRenewed
          ? 'It has ended. A later batch shows that the token is older than that.'
          : 'From then on the token counts only together with a later one that covers it, which the service adds to the proof.',
      },
    },
    ...later,
    {
      name: 'Whom it convinces',
      value:
        clock.standing === 'nobody' && clock.validUntil < madeAt
          ? 'Nobody any more: its certificate has ended, and no later token covers it.'
          : authorityStandings[clock.standing],
    },
  ];
}

function blockStanding({ standing, chain, name }: Extract<CertificateClock, { kind: 'block' }>): string {
  if (standing === 'shipped')
    return `Anybody who trusts what ships with Holdfast: ${name} is a known public chain.`;
  return {
    public: `Nobody yet: ${name} is a known public chain, but the block is not final.`,
    test: 'Nobody: this is a test network.',
    embedded: 'Nobody: the operator of this service runs the chain alone.',
    unknown: 'Only those who know and trust this chain: it is not a known public one.',
  }[chain];
}

const authorityStandings: Record<Standing, string> = {
  shipped: 'Anybody who trusts what ships with Holdfast: the root certificate is part of it.',
  operator:
    'Those who trust this root certificate. The operator of this service chose it; it does not ship with Holdfast.',
  nobody: 'Only those who trust this authority for reasons of their own.',
};

function aboutProof({ leaf, merkle, seal, ...proof }: Proof, anchor: EvmAnchor): Pair[] {
  const [, , , , , previousLeaf] = leaf.values;
  const steps = merkle.proof.length;
  const first = BigInt(previousLeaf) === 0n;
  return [
    {
      name: '1. Leaf',
      value: {
        digits: toHex(leafHash(leaf.values)),
        note: `The fingerprint, the id and version of the ${proof.kind}, the vault and the submitted statements, hashed into one value.`,
      },
    },
    {
      name: '    follows',
      value: first ? 'Nothing: it is the first leaf of this file.' : { digits: previousLeaf },
    },
    {
      name: '2. Seal',
      value: {
        digits: seal.signature,
        note: `Signature of the vault ${checksumAddress(seal.vault)} over the root of its own tree of ${count(seal.leaves, 'leaf', 'leaves')}, as its seal number ${seal.sequence} (EIP-712).`,
      },
    },
    {
      name: '3. Path to the root',
      value: {
        digits: merkle.root,
        note: `A Merkle path of ${count(steps, 'step', 'steps')} leads from the leaf to the root: ${seal.depth} up to the root that was sealed, then the seal itself, then ${steps - seal.depth - 1} up to the root that was anchored.`,
      },
    },
    {
      name: '4. Registry',
      value: {
        digits: checksumAddress(anchor.contract),
        note: `The contract that stored the root with the time of the block. It was submitted by ${checksumAddress(anchor.submitter)}.`,
      },
    },
  ];
}

function verification(paper: Paper, input: CertificateInput): void {
  const { verifyUrl } = input;
  const size = 104;
  const top = paper.y;
  const place = { x: paper.left + paper.width - size, y: top - 4, size };
  drawQrCode(paper, { text: verifyUrl, alt: `QR code of ${verifyUrl}`, ...place });
  list(paper, stepsToVerify(input), { numbered: true, inset: size + 8 });
  paper.y = Math.max(paper.y, top + size);
}

function custody(paper: Paper, { custody, custodyLeftOut }: CertificateInput): void {
  const table = createTable(paper, [
    { title: 'When (UTC)', share: 21 },
    { title: 'What', share: 18 },
    { title: 'Vault', share: 49 },
    { title: 'Block', share: 12 },
  ]);
  for (const [place, { kind, number, vault, to, anchor }] of custody.entries()) {
    table.row([
      anchor === null ? 'not confirmed yet' : anchor.at.toISOString().slice(0, 19).replace('T', ' '),
      kind === 'version' ? `Version ${number}` : `Transfer ${number}`,
      to === null
        ? { text: vault.name, note: vault.address }
        : // Not an arrow: between right-to-left names it would point the wrong way.
          { text: `from ${vault.name} to ${to.name}`, note: `${vault.address} → ${to.address}` },
      anchor === null ? '' : String(anchor.blockNumber),
    ]);
    if (place === 0 && custodyLeftOut > 0) {
      table.wide(
        `${count(custodyLeftOut, 'entry', 'entries')} left out here; the history of the file has them all.`,
      );
    }
  }
  table.end();
}

function count(amount: number, one: string, many: string): string {
  return `${amount.toLocaleString('en-US')} ${amount === 1 ? one : many}`;
}
