/**
 * The release certificate of one entry: who did, inspected and certified which work, with which licences, and its anchor.
 */

import type { ChainKind } from '../../holdings/certificates/certificate-input.ts';
import {
  chainInWords,
  dateAndTime,
  developmentMark,
  whyDevelopment,
} from '../../holdings/certificates/certificate-words.ts';
import {
  heading,
  list,
  notice,
  type Pair,
  pairByPair,
  pairs,
  paragraph,
  title,
  type Words,
} from '../../pdf/blocks.ts';
import type { Drawing, Parts } from '../../pdf/drawing.ts';
import { colours, sizes } from '../../pdf/look.ts';
import { createPaper, type Paper } from '../../pdf/paper.ts';
import { notPrinted } from '../../pdf/showable.ts';
import { type Organisation, signedInWords } from '../../proof/signoff/signoff-document.ts';
import type { Dossier } from '../dossier-check/dossier-format.ts';
import { inWords, roleWords, shortened } from './logbook-words.ts';
import {
  approvedDataInWords,
  drawReleaseForm,
  formFault,
  type ReleaseForm,
  releaseForm,
} from './release-form.ts';
import { type PrintedEntry, type PrintedSignoff, readEntry, type SentEntry } from './sent-entry.ts';

/** What all entries of an asset share. */
export interface ReleaseInput extends Pick<Dossier, 'asset' | 'owner'> {
  madeAt: Date;
  chain: ChainKind;
  /** Where the entries and their proofs are in the dossier. */
  source: string;
}

/** A separate document. */
export function drawReleaseCertificate(input: ReleaseInput & { sent: SentEntry }): Drawing {
  const { madeAt } = input;
  const kept = readEntry(input.sent);
  const { maintenanceId } = kept.entry;
  const paper = createPaper({
    title: `Release certificate ${maintenanceId}`,
    subject: 'Who performed, inspected and certified maintenance work',
    madeAt,
    head: ['Release certificate', maintenanceId],
    foot: `Created on ${dateAndTime(madeAt)}`,
    marks: marksOf(kept),
    landscape: true,
  });
  return { stream: paper.stream, parts: drawOne(paper, input, kept) };
}

/** Many in one document, each on its own page: takes entries one by one, and keeps none of them. */
export function drawReleaseVolume(input: ReleaseInput): Drawing<SentEntry> {
  const paper = createPaper({
    title: 'Release certificates',
    subject: 'Who performed, inspected and certified maintenance work',
    madeAt: input.madeAt,
    head: ['Release certificates', ''],
    foot: `Created on ${dateAndTime(input.madeAt)}`,
    streamed: true,
    landscape: true,
  });
  return { stream: paper.stream, parts: drawAll(paper, input) };
}

function* drawOne(paper: Paper, input: ReleaseInput, kept: PrintedEntry): Parts {
  yield* drawRelease(paper, input, kept);
  paper.end();
}

function* drawAll(paper: Paper, input: ReleaseInput): Parts<SentEntry> {
  let first = true;
  for (let sent = yield 'item'; sent; sent = yield 'item') {
    if (!first) paper.turnPage();
    first = false;
    yield* drawRelease(paper, input, readEntry(sent));
  }
  paper.end();
}

function* drawRelease(
  paper: Paper,
  input: ReleaseInput,
  kept: PrintedEntry,
): Generator<'part', void, unknown> {
  const { asset, chain } = input;
  const { entry, signoffs, supersededBy, anchor, status, developmentEvidence } = kept;
  title(paper, 'Release certificate', `Maintenance ${entry.maintenanceId}`);
  if (supersededBy !== null) {
    notice(paper, {
      title: 'Release withdrawn',
      text: `This entry was corrected by ${supersededBy}, so this release is no longer in force. The correction releases nothing unless it is certified itself.`,
      tone: colours.alarm,
    });
  }
  if (developmentEvidence) {
    notice(paper, {
      title: 'Development evidence',
      text: `${whyDevelopment(chain, 'the time of the anchor is')} The signatures of the workers are not affected.`,
      tone: colours.alarm,
    });
  }
  if (anchor === null || status !== 'finalized') {
    notice(paper, {
      title: 'Provisional',
      text:
        anchor === null
          ? 'When this certificate was created, the entry was not on the chain yet. Download it again later.'
          : 'When this certificate was created, the block of the anchor was confirmed but not final.',
      tone: colours.warning,
    });
  }
  const form = releaseForm(kept);
  const fault = formFault(form);
  if (fault) notice(paper, { ...fault, tone: colours.warning });
  yield 'part';
  drawReleaseForm(paper, kept, form);
  yield 'part';
  paragraph(paper, statement(kept), { size: sizes.body + 0.8 });
  heading(paper, 'The asset');
  pairs(paper, aboutAsset(input, form));
  yield 'part';
  heading(paper, 'The work');
  yield* pairByPair(paper, aboutWork(kept, form));
  for (const signoff of signoffs) {
    heading(paper, `${roleWords[signoff.document.role]} by`);
    pairs(paper, aboutSignoff(signoff));
    yield 'part';
  }
  heading(paper, 'The anchor');
  pairs(paper, aboutAnchor(kept, chain));
  heading(paper, 'How to rely on it', { keep: 90 });
  list(paper, [
    `This document is a reading aid. What counts are the signatures and proofs in “${input.source}” of the dossier of ${asset.assetId}: open “verify.html” of the same dossier, which checks all of them without the service.`,
    'The organisation, its approval and the licences are shown as they had been entered when the work was certified; this document does not show whether an authority issued them.',
    ...(form.release === null || form.lacks.length > 0
      ? ['It shows what was signed. It does not replace a form that a regulation requires.']
      : []),
    `${notPrinted} “${input.source}” contains every text as it was written.`,
  ]);
}

function marksOf({ developmentEvidence, supersededBy }: PrintedEntry): string[] {
  return [
    ...(developmentEvidence ? [developmentMark] : []),
    ...(supersededBy === null ? [] : ['SUPERSEDED: CORRECTED BY A LATER ENTRY']),
  ];
}

function statement({ entry, signoffs }: PrintedEntry): string {
  const names = (wanted: string) =>
    signoffs
      .filter(({ document }) => document.role === wanted)
      .map(({ document }) => document.workerName || document.workerAddress)
      .join(' and ');
  const inspected = names('inspected');
  const performed = names('performed') || entry.workerName || entry.workerAddress;
  return `The work described below was performed by ${performed}${inspected === '' ? '' : `, inspected by ${inspected}`} and certified by ${names('certified')}.${onBehalfOf(signoffs)}`;
}

/** What the service signed for others must not pass for their own signature. */
function onBehalfOf(signoffs: PrintedSignoff[]): string {
  const signed = signoffs.filter(
    ({ document: { signedWith } }) => signedWith.method === 'held-key' && signedWith.apiKeyId !== null,
  );
  if (signed.length === 0) return '';
  const names = [...new Set(signed.map(({ document }) => document.workerName || document.workerAddress))];
  return ` The service signed on behalf of ${names.join(' and ')}.`;
}

/** As it was when it was certified, as far as that was recorded. */
function aboutAsset({ asset, owner }: ReleaseInput, { released }: ReleaseForm): Pair[] {
  const { name, partNumber, serialNumber } = released?.asset ?? asset;
  const organisation = released?.organisation;
  return [
    { name: 'Name', value: { text: name || '(none given)', strong: true } },
    { name: 'Id', value: released ? `${asset.assetId}, version ${released.asset.version}` : asset.assetId },
    { name: 'Serial number', value: serialNumber || '(none given)' },
    { name: 'Part number', value: partNumber || '(none given)' },
    { name: 'Current owner', value: { text: owner.name || '(no name)', note: owner.address } },
    ...(organisation ? [{ name: 'Released by', value: organisationInWords(organisation) }] : []),
  ];
}

function organisationInWords({ name, address, authority, approvalNumber, regulation }: Organisation): Words {
  const approval = [regulation, authority].filter((text) => text !== '').join(', ');
  const number = approvalNumber === '' ? 'No approval number' : `Approval ${approvalNumber}`;
  return {
    text: [name, address].filter((text) => text !== '').join(', ') || '(no name)',
    note: approval === '' ? `${number}.` : `${number} (${approval}).`,
  };
}

function aboutWork(
  { entry, number, hash }: PrintedEntry,
  { approvedData, workOrder, release }: ReleaseForm,
): Pair[] {
  const shown = [
    ...(approvedData.length > 0 ? ['approvedData'] : []),
    ...(workOrder === '' ? [] : ['workOrder']),
    ...(release === null ? [] : ['release']),
  ];
  return [
    { name: 'Entry number', value: number.toLocaleString('en-US') },
    { name: 'Type', value: entry.type },
    { name: 'Summary', value: { text: entry.summary, strong: true } },
    { name: 'Performed', value: dateAndTime(new Date(entry.performedAt)) },
    { name: 'Recorded', value: dateAndTime(new Date(entry.recordedAt)) },
    { name: 'Recorded for', value: { text: entry.workerName || '(no name)', note: entry.workerAddress } },
    ...(entry.supersedes === null ? [] : [{ name: 'Corrects', value: entry.supersedes }]),
    { name: 'Approved data', value: approvedDataInWords(approvedData) || '(none given)' },
    ...(workOrder === '' ? [] : [{ name: 'Work order', value: workOrder }]),
    ...Object.entries(entry.data)
      .filter(([name]) => !shown.includes(name))
      .slice(0, mostData)
      .map(([name, value]) => ({ name: shortened(name), value: inWords(value) })),
    ...entry.files.map(({ name, contentHash }) => ({
      name: 'Attached',
      value: { text: name || '(no name)', note: contentHash },
    })),
    { name: 'Hash of the entry', value: { digits: hash } },
  ];
}

/** The rest is in the entry itself. */
const mostData = 30;

function aboutSignoff({ document }: PrintedSignoff): Pair[] {
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
              note: `${licence.category ? `Category ${licence.category}, for` : 'For'} ${licence.scope}; ${licence.expiresAt === null ? 'no expiry' : `valid until ${dateAndTime(new Date(licence.expiresAt))}`}.`,
            },
    },
    { name: 'Signed', value: { text: dateAndTime(new Date(signedAt)), note: signedInWords(document) } },
    { name: 'Signature', value: { digits: signature } },
  ];
}

function aboutAnchor({ anchor, status }: PrintedEntry, chain: ChainKind): Pair[] {
  if (anchor === null) return [{ name: 'Anchor', value: 'None yet.' }];
  return [
    { name: 'Time of the block', value: { text: dateAndTime(anchor.anchoredAt), strong: true } },
    { name: 'Chain', value: chainInWords({ ...chain, chainId: anchor.chainId }) },
    {
      name: 'Block',
      value: `${anchor.blockNumber.toLocaleString('en-US')}, ${status === 'finalized' ? 'final' : 'not final yet'}`,
    },
    { name: 'Transaction', value: { digits: anchor.transactionHash } },
  ];
}
