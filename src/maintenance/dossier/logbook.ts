/** The logbook of an asset as a PDF: what it is, its owner, and every entry in the order of the work. */

import type { ChainKind } from '../../holdings/certificates/certificate-input.ts';
import {
  dateAndTime,
  developmentMark,
  whyDevelopment,
} from '../../holdings/certificates/certificate-words.ts';
import { heading, notice, pairByPair, paragraph, title, type Words } from '../../pdf/blocks.ts';
import type { Drawing, Parts } from '../../pdf/drawing.ts';
import { colours, sizes } from '../../pdf/look.ts';
import { createPaper, type Paper } from '../../pdf/paper.ts';
import { notPrinted } from '../../pdf/showable.ts';
import { createTable, type Table } from '../../pdf/table.ts';
import { isSentLater } from '../../proof/signoff/signoff-document.ts';
import type { Dossier } from '../dossier-check/dossier-format.ts';
import { deferredUntil, type MaintenanceEntry, readData } from '../signing/maintenance-entry.ts';
import { blocksOfAsset, dayAndMinute, roleWords, shortened, stateInWords } from './logbook-words.ts';
import { type PrintedEntry, readEntry, type SentEntry } from './sent-entry.ts';

export interface LogbookInput
  extends Pick<Dossier, 'asset' | 'owner' | 'owners' | 'installations' | 'parts' | 'workspaceId'> {
  madeAt: Date;
  chain: ChainKind;
  /** Nobody but the operator of the service vouches for all of its times. */
  developmentEvidence: boolean;
}

/** Of any length: takes its entries page by page, and keeps none of them. */
export function drawLogbook(input: LogbookInput): Drawing<SentEntry[]> {
  const paper = createPaper({
    title: 'Maintenance logbook',
    subject: 'The recorded maintenance of an asset',
    madeAt: input.madeAt,
    head: ['Maintenance logbook', shortened(input.asset.assetId, 60)],
    foot: `Created on ${dateAndTime(input.madeAt)}`,
    ...(input.developmentEvidence && { marks: [developmentMark] }),
    streamed: true,
  });
  return { stream: paper.stream, parts: draw(paper, input) };
}

function* draw(paper: Paper, input: LogbookInput): Parts<SentEntry[]> {
  const { asset, owner, owners, installations, parts } = input;
  title(paper, 'Maintenance logbook', asset.name || asset.assetId);
  if (input.developmentEvidence) {
    notice(paper, {
      title: 'Development evidence',
      text: `Nobody whom Holdfast trusts by itself vouches for all times below. ${whyDevelopment(input.chain, 'the time of an anchor for which nobody else vouches is')}`,
      tone: colours.alarm,
    });
  }
  heading(paper, 'The asset');
  yield* pairByPair(paper, blocksOfAsset({ asset, owner }));
  heading(paper, 'Owners');
  const ownerTable = createTable(paper, [
    { title: 'Since (UTC)', share: 18 },
    { title: 'Vault', share: 52 },
    { title: 'How', share: 30 },
  ]);
  for (const { vault, since, transfer } of owners) {
    ownerTable.row([
      dayAndMinute(since),
      { text: vault.name || '(no name)', note: vault.address },
      transfer === null
        ? 'First owner'
        : { text: `Transfer ${transfer.number}`, note: stateInWords(transfer, input) },
    ]);
    yield 'part';
  }
  ownerTable.end();
  if (installations.length > 0) {
    heading(paper, 'Installed in');
    const table = createTable(paper, [
      { title: 'From (UTC)', share: 18 },
      { title: 'Until (UTC)', share: 18 },
      { title: 'Asset', share: 64 },
    ]);
    for (const { parentAssetId, installedAt, removedAt } of installations) {
      table.row([
        dayAndMinute(installedAt),
        removedAt === null ? 'today' : dayAndMinute(removedAt),
        parentAssetId,
      ]);
      yield 'part';
    }
    table.end();
  }
  if (parts.length > 0) {
    heading(paper, 'Parts installed in it');
    const table = createTable(paper, [
      { title: 'From (UTC)', share: 18 },
      { title: 'Until (UTC)', share: 18 },
      { title: 'Part', share: 64 },
    ]);
    for (const part of parts) {
      table.row([
        dayAndMinute(part.installedAt),
        part.removedAt === null ? 'today' : dayAndMinute(part.removedAt),
        { text: part.name || part.assetId, note: numbersOf(part) },
      ]);
      yield 'part';
    }
    table.end();
  }
  heading(paper, 'Entries', { keep: 110 });
  paragraph(
    paper,
    'In the order in which the work was done. An entry is never changed: a correction is another entry, and the corrected one stays in its place. Entries are numbered in the order in which they were recorded, without a gap. Each has its id, its hash and its anchor; “entries” in the dossier contains the complete entry with its proof. When work was done, recorded and signed is stated by those who did it; the proof of an entry or a sign-off shows when it existed at the latest.',
    { size: sizes.small, colour: colours.soft },
  );
  paragraph(
    paper,
    `${notPrinted} “dossier.json” and “entries” in the dossier contain every text as it was written.`,
    { size: sizes.small, colour: colours.soft },
  );
  yield* drawEntries(paper, input);
  paper.end();
}

function* drawEntries(paper: Paper, input: LogbookInput): Parts<SentEntry[]> {
  const table = createTable(paper, [
    { title: 'Done (UTC)', share: 18 },
    { title: 'Work', share: 43 },
    { title: 'Done by', share: 13 },
    { title: 'Signed off', share: 26 },
  ]);
  let count = 0;
  for (let page = yield 'item'; page; page = yield 'item') {
    for (const sent of page) {
      drawEntry(table, readEntry(sent), input);
      count += 1;
      yield 'part';
    }
  }
  table.end();
  paragraph(
    paper,
    count === 0
      ? 'There are no entries.'
      : `End of the logbook: ${count.toLocaleString('en-US')} ${count === 1 ? 'entry' : 'entries'}.`,
    { size: sizes.small, colour: colours.soft },
  );
}

function drawEntry(table: Table, kept: PrintedEntry, input: LogbookInput): void {
  const { entry, supersededBy } = kept;
  const marks = `${supersededBy === null ? '' : '[SUPERSEDED] '}${entry.supersedes === null ? '' : '[CORRECTION] '}`;
  const notes = [
    ...(entry.supersedes === null ? [] : [`Corrects ${entry.supersedes}.`]),
    ...(supersededBy === null ? [] : [`Superseded by ${supersededBy}.`]),
    ...statementsOf(entry),
    ...(entry.files.length === 0 ? [] : [`Attached: ${entry.files.map(({ name }) => name).join(', ')}.`]),
    `Entry number ${kept.number.toLocaleString('en-US')}, ${entry.maintenanceId}`,
    `Hash ${kept.hash}`,
    stateInWords(kept, input),
  ];
  table.row([
    { text: dayAndMinute(entry.performedAt), note: `recorded ${dayAndMinute(entry.recordedAt)}` },
    { text: `${marks}${entry.type}: ${entry.summary}`, note: notes.join('\n') },
    entry.workerName || entry.workerAddress,
    signedBy(kept),
  ]);
}

function numbersOf({ assetId, serialNumber, partNumber }: LogbookInput['parts'][number]): string {
  return [
    assetId,
    ...(serialNumber === '' ? [] : [`serial number ${serialNumber}`]),
    ...(partNumber === '' ? [] : [`part number ${partNumber}`]),
  ].join(', ');
}

/** The statements in the data that the service acts on. */
function statementsOf({ data }: MaintenanceEntry): string[] {
  const read = readData(data);
  // An entry of an earlier version may contain what is refused today.
  if (typeof read === 'string') return [];
  const { usage, closes } = read;
  const until = deferredUntil(data);
  const ran = [
    ...(usage?.hours === undefined ? [] : [`${usage.hours.toLocaleString('en-US')} hours`]),
    ...(usage?.cycles === undefined ? [] : [`${usage.cycles.toLocaleString('en-US')} cycles`]),
  ];
  return [
    ...(ran.length === 0 ? [] : [`Usage: ${ran.join(', ')}.`]),
    ...((data.deferred ?? false) === false
      ? []
      : [until === null ? 'Repair deferred.' : `Repair deferred until ${dayAndMinute(until)}.`]),
    ...(closes.length === 0 ? [] : [`Closes ${closes.join(', ')}.`]),
  ];
}

function signedBy({ signoffs }: PrintedEntry): Words {
  if (signoffs.length === 0) return { text: '', note: 'not signed off' };
  return signoffs
    .map(({ document }) => {
      const { role, workerName, workerAddress, licence, signedAt, receivedAt, signedWith } = document;
      const isOnBehalf = signedWith.method === 'held-key' && signedWith.apiKeyId !== null;
      const by = isOnBehalf ? 'the service on behalf of ' : '';
      const number = licence === null ? '' : `, licence ${licence.number}`;
      const received =
        receivedAt !== undefined && isSentLater(document)
          ? ` by the signer's device, received ${dayAndMinute(receivedAt)}`
          : '';
      return `${roleWords[role]}: ${by}${workerName || workerAddress}${number}, ${dayAndMinute(signedAt)}${received}`;
    })
    .join('\n');
}
