/** The printed work order of an entry: what the work is, who has signed it, and a code for everybody who is asked to sign. */
import { dateAndTime } from '../../holdings/certificates/certificate-words.ts';
import { heading, notice, type Pair, pairByPair, pairs, paragraph, title } from '../../pdf/blocks.ts';
import type { Drawing, Parts } from '../../pdf/drawing.ts';
import { colours, sizes } from '../../pdf/look.ts';
import { createPaper, type Paper } from '../../pdf/paper.ts';
import { drawQrCode } from '../../pdf/qr-code.ts';
import type { SignoffRole } from '../signing/signoff-rules.ts';

export interface WorkOrderInput {
  madeAt: Date;
  asset: { assetId: string; name: string; serialNumber: string; partNumber: string };
  entry: {
    maintenanceId: string;
    number: number;
    type: string;
    summary: string;
    performedAt: Date;
    workerName: string;
    workerAddress: string;
    /** Of the attachments. */
    files: string[];
    supersedes: string | null;
  };
  /** What a sign-off of the work needs. */
  requires: { scope: string; categories: string[]; critical: boolean };
  signed: { role: SignoffRole; workerName: string; workerAddress: string; signedAt: string }[];
  asked: AskedToSign[];
  expiresAt: Date;
}

export interface AskedToSign {
  role: SignoffRole;
  workerName: string;
  workerAddress: string;
  licenceScope: string;
  licenceNumber: string;
  link: string;
}

export function drawWorkOrder(input: WorkOrderInput): Drawing {
  const { madeAt, entry } = input;
  const paper = createPaper({
    title: `Work order ${entry.maintenanceId}`,
    subject: 'What the work is, and codes to sign it with',
    madeAt,
    head: ['Work order', entry.maintenanceId],
    foot: `Printed on ${dateAndTime(madeAt)}`,
  });
  return { stream: paper.stream, parts: drawParts(paper, input) };
}

function* drawParts(paper: Paper, input: WorkOrderInput): Parts {
  const { entry, asked, signed, expiresAt } = input;
  title(paper, 'Work order', `Maintenance ${entry.maintenanceId}`);
  notice(paper, {
    title: `The codes on this page are valid until ${dateAndTime(expiresAt)}`,
    text: 'Whoever scans one sees this entry and its attachments. Only the passkey of the named worker can sign with it, once. A newer work order or link for the same worker and role replaces a code.',
    tone: colours.warning,
  });
  heading(paper, 'The asset');
  pairs(paper, aboutAsset(input));
  yield 'part';
  heading(paper, 'The work');
  yield* pairByPair(paper, aboutWork(input));
  if (signed.length > 0) {
    heading(paper, 'Signed so far');
    pairs(paper, signed.map(aboutSigned));
  }
  yield 'part';
  heading(paper, 'To sign', { keep: codeSize + 10 });
  paragraph(
    paper,
    'Scan the code with the phone that has your passkey. Without network at the place of work, open it before: the phone keeps it, and sends the signature later.',
  );
  for (const one of asked) {
    askToSign(paper, one);
    yield 'part';
  }
  paper.end();
}

/** In points. With the quiet zone, a module of a long link is still half a millimetre wide. */
const codeSize = 132;

function askToSign(paper: Paper, asked: AskedToSign): void {
  const { role, workerName, workerAddress, licenceNumber, licenceScope, link } = asked;
  const who = workerName || workerAddress;
  paper.need(codeSize + 14);
  const top = paper.y + 4;
  drawQrCode(paper, {
    text: link,
    alt: `QR code for ${who} to sign as ${role}: ${link}`,
    ...{ x: paper.left - 8, y: top, size: codeSize },
  });
  const indent = codeSize + 4;
  paper.y = top + 14;
  paragraph(paper, `${capitalised(role)}: ${who}`, {
    indent,
    face: 'sansBold',
    size: sizes.heading,
    colour: colours.accent,
  });
  if (workerName !== '') paragraph(paper, workerAddress, { indent, face: 'mono', size: sizes.digits });
  paragraph(paper, wording[role], { indent });
  if (licenceNumber !== '') paragraph(paper, `Licence ${licenceNumber}, for ${licenceScope}.`, { indent });
  paragraph(paper, link, { indent, face: 'mono', size: sizes.digits, link });
  paper.y = Math.max(paper.y, top + codeSize);
}

const wording = {
  performed: 'Signs that they did the work.',
  inspected: 'Signs that they inspected the work, after it was signed as performed.',
  certified: 'Signs that they certify the work and release it, after it was signed as performed.',
} as const;

function aboutAsset({ asset }: WorkOrderInput): Pair[] {
  return [
    { name: 'Name', value: { text: asset.name || '(none given)', strong: true } },
    { name: 'Id', value: asset.assetId },
    { name: 'Serial number', value: asset.serialNumber || '(none given)' },
    { name: 'Part number', value: asset.partNumber || '(none given)' },
  ];
}

function aboutWork({ entry, requires }: WorkOrderInput): Pair[] {
  const { scope, categories, critical } = requires;
  const category = categories.length === 0 ? '' : `, category ${categories.join(' or ')}`;
  return [
    { name: 'Entry number', value: entry.number.toLocaleString('en-US') },
    { name: 'Type', value: entry.type },
    { name: 'Summary', value: { text: entry.summary, strong: true } },
    { name: 'Done', value: dateAndTime(entry.performedAt) },
    { name: 'Recorded for', value: { text: entry.workerName || '(no name)', note: entry.workerAddress } },
    ...(entry.supersedes === null ? [] : [{ name: 'Corrects', value: entry.supersedes }]),
    { name: 'Licence needed', value: `To inspect or certify: ${scope}${category}` },
    ...(critical
      ? [{ name: 'Critical', value: 'It must be inspected by somebody who neither did nor certifies it.' }]
      : []),
    ...entry.files.map((name) => ({ name: 'Attached', value: name || '(no name)' })),
  ];
}

function aboutSigned({ role, workerName, workerAddress, signedAt }: WorkOrderInput['signed'][number]): Pair {
  return {
    name: capitalised(role),
    value: { text: workerName || workerAddress, note: dateAndTime(new Date(signedAt)) },
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
