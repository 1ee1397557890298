/** The release certificate of one entry: who did, inspected and certified which work, under which licences, and its anchor. */
import { heading, list, notice, type Pair, pairs, paragraph, title } from '../pdf/blocks.ts';
import { colours, sizes } from '../pdf/look.ts';
import { createPaper, type Paper } from '../pdf/paper.ts';
import { notPrinted } from '../pdf/showable.ts';
import { dateAndTime } from '../platform/certificate-words.ts';
import type { KeptEntry, KeptSignoff } from './dossier-entries.ts';
import type { Dossier } from './dossier-format.ts';
import { chainInWords, inWords, roleWords, shortened } from './logbook-words.ts';

export interface ReleaseInput extends Pick<Dossier, 'asset' | 'owner'> {
  kept: KeptEntry;
  madeAt: Date;
  developmentEvidence: boolean;
  /** Where the entry is with its proof, inside the dossier. */
  source: string;
}

/** A document of its own. */
export async function* writeReleaseCertificate(input: ReleaseInput): AsyncGenerator<Uint8Array> {
  const { kept, madeAt } = input;
  const { maintenanceId } = kept.entry;
  const paper = createPaper({
    title: `Release certificate ${maintenanceId}`,
    subject: 'Who did, inspected and certified maintenance work',
    madeAt,
    head: ['Release certificate', maintenanceId],
    foot: `Made on ${dateAndTime(madeAt)}`,
    marks: marksOf(input),
  });
  drawRelease(paper, input);
  paper.end();
  yield* paper.stream as AsyncIterable<Uint8Array>;
}

/** Many in one document, each on a page of its own, with no more of them in memory than one. */
export async function* writeReleaseVolume(
  inputs: AsyncIterable<ReleaseInput>,
  madeAt: Date,
): AsyncGenerator<Uint8Array> {
  const paper = createPaper({
    title: 'Release certificates',
    subject: 'Who did, inspected and certified maintenance work',
    madeAt,
    head: ['Release certificates', ''],
    foot: `Made on ${dateAndTime(madeAt)}`,
    streamed: true,
  });
  const drawn = drawAll(paper, inputs).catch((error) => {
    paper.stream.destroy(error as Error);
  });
  try {
    yield* paper.stream as AsyncIterable<Uint8Array>;
    await drawn;
  } finally {
    paper.stream.destroy();
  }
}

async function drawAll(paper: Paper, inputs: AsyncIterable<ReleaseInput>): Promise<void> {
  let first = true;
  for await (const input of inputs) {
    if (!first) paper.turnPage();
    first = false;
    drawRelease(paper, input);
    await paper.drained();
  }
  paper.end();
}

function drawRelease(paper: Paper, input: ReleaseInput): void {
  const { asset, kept, developmentEvidence } = input;
  const { entry, signoffs, supersededBy, anchor, status } = kept;
  title(paper, 'Release certificate', `Maintenance ${entry.maintenanceId}`);
  if (supersededBy !== null) {
    notice(paper, {
      title: 'Superseded',
      text: `This entry was corrected by ${supersededBy}. Rely on that one.`,
      tone: colours.alarm,
    });
  }
  if (developmentEvidence) {
    notice(paper, {
      title: 'Development evidence',
      text: 'The chain is one that the operator of the service runs alone, so the time of the anchor is no more than the operator’s own word. The signatures of the workers are not affected.',
      tone: colours.alarm,
    });
  }
  if (anchor === null || status !== 'finalized') {
    notice(paper, {
      title: 'Provisional',
      text:
        anchor === null
          ? 'When this certificate was made, the entry was not on the chain yet. Ask for the dossier again later.'
          : 'When this certificate was made, the block of the anchor was confirmed but not final.',
      tone: colours.warning,
    });
  }
  paragraph(paper, statement(kept), { size: sizes.body + 0.8 });
  heading(paper, 'The asset');
  pairs(paper, aboutAsset(input));
  heading(paper, 'The work');
  pairs(paper, aboutWork(kept));
  for (const signoff of signoffs) {
    heading(paper, `${roleWords[signoff.document.role]} by`);
    pairs(paper, aboutSignoff(signoff));
  }
  heading(paper, 'The anchor');
  pairs(paper, aboutAnchor(kept, developmentEvidence));
  heading(paper, 'How to rely on it', { keep: 90 });
  list(paper, [
    `This document is a reading aid. What counts are the signatures and proofs in “${input.source}” of the dossier of ${asset.assetId}: open “verify.html” of the same dossier, which checks all of them without any service.`,
    'The licences are as the organisation had entered them when they were used; whether an authority had issued them is not checked here.',
    'It tells what was signed. It does not replace a form that a regulation asks for.',
    `${notPrinted} “${input.source}” has every text as it was written.`,
  ]);
}

function marksOf({ kept, developmentEvidence }: ReleaseInput): string[] {
  return [
    ...(developmentEvidence ? ['DEVELOPMENT EVIDENCE: NOT PROOF OF TIME TO ANYBODY ELSE'] : []),
    ...(kept.supersededBy === null ? [] : ['SUPERSEDED: CORRECTED BY A LATER ENTRY']),
  ];
}

function statement({ entry, signoffs }: KeptEntry): string {
  const names = (wanted: string) =>
    signoffs
      .filter(({ document }) => document.role === wanted)
      .map(({ document }) => document.workerName || document.workerAddress)
      .join(' and ');
  const inspected = names('inspected');
  const performed = names('performed') || entry.workerName || entry.workerAddress;
  return `The work described below was performed by ${performed}${inspected === '' ? '' : `, inspected by ${inspected}`} and certified by ${names('certified')}. Each of them signed it with a key of their own address.`;
}

function aboutAsset({ asset, owner }: ReleaseInput): Pair[] {
  return [
    { name: 'Name', value: { text: asset.name || '(none given)', strong: true } },
    { name: 'Id', value: asset.assetId },
    { name: 'Serial number', value: asset.serialNumber || '(none given)' },
    { name: 'Part number', value: asset.partNumber || '(none given)' },
    { name: 'Owner today', value: { text: owner.name || '(no name)', note: owner.address } },
  ];
}

function aboutWork({ entry, hash }: KeptEntry): Pair[] {
  return [
    { name: 'Type', value: entry.type },
    { name: 'Summary', value: { text: entry.summary, strong: true } },
    { name: 'Performed', value: dateAndTime(new Date(entry.performedAt)) },
    { name: 'Put on record', value: dateAndTime(new Date(entry.recordedAt)) },
    { name: 'Recorded for', value: { text: entry.workerName || '(no name)', note: entry.workerAddress } },
    ...(entry.supersedes === null ? [] : [{ name: 'Corrects', value: entry.supersedes }]),
    ...Object.entries(entry.data)
      .slice(0, mostData)
      .map(([name, value]) => ({ name: shortened(name), value: inWords(value) })),
    ...entry.files.map(({ name, contentHash }) => ({
      name: 'Attached',
      value: { text: name || '(no name)', note: contentHash },
    })),
    { name: 'Hash of the entry', value: { digits: hash } },
  ];
}

/** More of them are in the entry itself. */
const mostData = 30;

function aboutSignoff({ document }: KeptSignoff): Pair[] {
  const { workerName, workerAddress, licence, signedAt, signature } = document;
  return [
    { name: 'Name', value: { text: workerName || '(no name)', strong: true, note: workerAddress } },
    {
      name: 'Licence',
      value:
        licence === null
          ? 'none needed'
          : {
              text: `${licence.number}, ${licence.authority || 'no authority named'}`,
              note: `For ${licence.scope}; ${licence.expiresAt === null ? 'without end' : `valid until ${dateAndTime(new Date(licence.expiresAt))}`}.`,
            },
    },
    { name: 'Signed', value: dateAndTime(new Date(signedAt)) },
    { name: 'Signature', value: { digits: signature } },
  ];
}

function aboutAnchor({ anchor, status }: KeptEntry, developmentEvidence: boolean): Pair[] {
  if (anchor === null) return [{ name: 'Anchor', value: 'None yet.' }];
  return [
    { name: 'Time of the block', value: { text: dateAndTime(anchor.anchoredAt), strong: true } },
    {
      name: 'Chain',
      value: `${chainInWords(anchor.chainId, developmentEvidence)} (chain id ${anchor.chainId})`,
    },
    {
      name: 'Block',
      value: `${anchor.blockNumber.toLocaleString('en-US')}, ${status === 'finalized' ? 'final' : 'not final yet'}`,
    },
    { name: 'Transaction', value: { digits: anchor.transactionHash } },
  ];
}
