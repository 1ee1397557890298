/**
 * The boxes at the head of a release certificate: for a component those of an EASA Form 1, for an aircraft those of a
 * certificate of release to service. It claims to be one only if all is there that makes it one.
 */

import type { Words } from '../../pdf/blocks.ts';
import { type Box, boxes } from '../../pdf/boxes.ts';
import type { Paper } from '../../pdf/paper.ts';
import { type Organisation, type Release, signedInWords } from '../../proof/signoff/signoff-document.ts';
import type { Usage } from '../signing/maintenance-entry.ts';
import { type ApprovedData, type StatedRelease, statedRelease } from '../signing/release-data.ts';
import type { PrintedEntry, PrintedSignoff } from './sent-entry.ts';

export interface ReleaseForm extends StatedRelease {
  /** By whom it was certified, the last of them. */
  certified: PrintedSignoff['document'] | null;
  /** Null while it is not certified. */
  released: Release | null;
  /** What a certificate under a regulation has and this release lacks, each as a noun. */
  lacks: string[];
}

export function releaseForm({ entry, signoffs }: Pick<PrintedEntry, 'entry' | 'signoffs'>): ReleaseForm {
  const stated = statedRelease(entry.data);
  const certified = signoffs.findLast(({ document }) => document.role === 'certified')?.document ?? null;
  const released = certified?.release ?? null;
  const form = { ...stated, certified, released };
  return { ...form, lacks: lackOf(form) };
}

/** Draws nothing if the entry does not say that a component or an aircraft is released. */
export function drawReleaseForm(paper: Paper, kept: PrintedEntry, form: ReleaseForm): void {
  if (form.release === null) return;
  const rows = form.release.as === 'component' ? componentRows(kept, form) : aircraftRows(kept, form);
  const leave = paper.enter('Table');
  for (const row of rows) boxes(paper, row);
  leave();
  paper.y += 8;
}

/** Why it is not what its layout suggests, or null. */
export function formFault({ release, lacks }: ReleaseForm): { title: string; text: string } | null {
  if (release === null || lacks.length === 0) return null;
  const title =
    release.as === 'component'
      ? 'Not an EASA Form 1'
      : 'Not a certificate of release to service under a regulation';
  const all = lacks.length === 1 ? lacks[0] : `${lacks.slice(0, -1).join(', ')} and ${lacks.at(-1)}`;
  return { title, text: `This is a release in the organisation's own form. It lacks ${all}.` };
}

export function approvedDataInWords(approved: ApprovedData[]): string {
  return approved
    .map(({ reference, revision }) => (revision === '' ? reference : `${reference}, revision ${revision}`))
    .join('; ');
}

function lackOf({ certified, released, release, approvedData }: Omit<ReleaseForm, 'lacks'>): string[] {
  if (!certified || !released) return ['a certification'];
  const { organisation, asset } = released;
  const { signedWith } = certified;
  const onBehalf = signedWith.method === 'held-key' && signedWith.apiKeyId !== null;
  return [
    ...organisationParts.filter(([name]) => !organisation?.[name]).map(([, noun]) => noun),
    ...(approvedData.length === 0 ? ['the approved data that the work was done by'] : []),
    ...(release?.as === 'component' && asset.partNumber === '' ? ['the part number of the component'] : []),
    ...(onBehalf ? ['a signature of the certifying person: the service signed on their behalf'] : []),
  ];
}

const organisationParts = [
  ['name', 'the name of the organisation'],
  ['address', 'the address of the organisation'],
  ['authority', 'the authority that approved it'],
  ['approvalNumber', 'the approval number of the organisation'],
  ['regulation', 'the regulation that the approval is under'],
] as const satisfies readonly [keyof Organisation, string][];

function componentRows(kept: PrintedEntry, form: ReleaseForm): Box[][] {
  const { entry } = kept;
  const { released, release, workOrder, certified, lacks } = form;
  const { authority, approvalNumber, regulation } = organisationOf(form);
  const { name = '', partNumber = '', serialNumber = '' } = released?.asset ?? {};
  const isClaimed = lacks.length === 0;
  const isPart145 = isClaimed && part145.test(regulation);
  const box = (label: string, share: number, ...value: Words[]): Box => ({ label, share, value });
  const empty = (label: string, share: number): Box => ({ label, share, value: [], shaded: true });
  return [
    [
      box('1. Approving competent authority / country', 3, stated(authority)),
      box('2.', 3, { text: formTitle(form), strong: true, ...(isForm1(form) && { note: issue }) }),
      box('3. Form tracking number', 3, { digits: entry.maintenanceId }),
    ],
    [
      box('4. Organisation name and address', 6, ...organisationLines(form)),
      box('5. Work order / contract / invoice', 3, workOrder || 'N/A'),
    ],
    [
      box('6. Item', 1, '1'),
      box('7. Description', 4, stated(name)),
      box('8. Part no.', 3, stated(partNumber)),
      box('9. Qty.', 1, '1'),
      box('10. Serial no.', 3, serialNumber || 'N/A'),
      box('11. Status / work', 3, { text: (release?.work ?? '').toUpperCase(), strong: true }),
    ],
    [box('12. Remarks', 1, ...remarks(kept, form), ...otherRegulation(form, isClaimed && !isPart145))],
    [
      empty('13a. New items: not used for maintenance', 4),
      box(
        '14a.',
        5,
        `${tick(isPart145)} Part-145.A.50 release to service`,
        `${tick(isClaimed && !isPart145)} Other regulation specified in block 12`,
        isPart145
          ? 'Certifies that unless otherwise specified in block 12, the work identified in block 11 and described in block 12, was accomplished in accordance with Part-145 and in respect to that work the items are considered ready for release to service.'
          : isClaimed
            ? 'The statement according to that regulation is in block 12.'
            : 'Neither: this is no release under Part-145 or another regulation.',
      ),
    ],
    [
      empty('13b. Authorised signature', 2),
      empty('13c. Approval / authorisation number', 2),
      box('14b. Authorised signature', 3, ...signatureLines(certified)),
      box('14c. Certificate / approval ref. no.', 2, stated(approvalNumber)),
    ],
    [
      empty('13d. Name', 2),
      empty('13e. Date (dd mmm yyyy)', 2),
      box('14d. Name', 3, ...nameLines(certified)),
      box('14e. Date (dd mmm yyyy)', 2, certified ? dayOf(certified.signedAt) : ''),
    ],
    [box('User / installer responsibilities', 1, ...(isClaimed ? responsibilities : [notTheForm]))],
  ];
}

function aircraftRows(kept: PrintedEntry, form: ReleaseForm): Box[][] {
  const { entry } = kept;
  const { released, workOrder, certified, lacks } = form;
  const { authority, approvalNumber, regulation } = organisationOf(form);
  const { name = '', partNumber = '', serialNumber = '' } = released?.asset ?? {};
  const box = (label: string, share: number, ...value: Words[]): Box => ({ label, share, value });
  const isClaimed = lacks.length === 0;
  return [
    [
      box('Approving competent authority / country', 3, stated(authority)),
      box('', 3, {
        text: isClaimed ? 'CERTIFICATE OF RELEASE TO SERVICE' : 'RELEASE CERTIFICATE, not under a regulation',
        strong: true,
      }),
      box('Number', 3, { digits: entry.maintenanceId }),
    ],
    [
      box('Organisation name and address', 4, ...organisationLines(form)),
      box('Approval ref. no.', 2, stated(approvalNumber)),
      box('Work order / contract', 3, workOrder || 'N/A'),
    ],
    [
      box('Aircraft', 4, stated(name)),
      box('Type or part no.', 2, partNumber || 'N/A'),
      box('Serial no.', 3, serialNumber || 'N/A'),
    ],
    [box('Work', 1, ...remarks(kept, form))],
    [
      box(
        'Statement',
        1,
        isClaimed
          ? `${part145.test(regulation) ? 'Part-145.A.50. ' : ''}Certifies that the work specified, except as otherwise specified, was carried out in accordance with ${regulation} and in respect to that work the aircraft is considered ready for release to service.`
          : 'The work was certified as described. This is no release under Part-145 or another regulation.',
      ),
    ],
    [
      box('Authorised signature', 4, ...signatureLines(certified)),
      box('Name', 3, ...nameLines(certified)),
      box('Date (dd mmm yyyy)', 2, certified ? dayOf(certified.signedAt) : ''),
    ],
  ];
}

const part145 = /^part[\s-]*145$/i;
/** Under which an EASA Form 1 is issued for maintenance. */
const ofForm1 = /^part[\s-]*(145|cao|m(,?\s+(section a,?\s+)?subpart f)?)$/i;

/** Of the form. */
const issue = 'EASA Form 1-MF/CAO/145 Issue 3';

function isForm1(form: ReleaseForm): boolean {
  return form.lacks.length === 0 && ofForm1.test(organisationOf(form).regulation);
}

function formTitle(form: ReleaseForm): string {
  if (form.lacks.length > 0) return 'RELEASE CERTIFICATE, not an EASA Form 1';
  if (isForm1(form)) return 'AUTHORISED RELEASE CERTIFICATE EASA FORM 1';
  return 'AUTHORISED RELEASE CERTIFICATE, in the layout of an EASA Form 1';
}

function otherRegulation(form: ReleaseForm, isOther: boolean): Words[] {
  if (!isOther) return [];
  const { regulation } = organisationOf(form);
  return [
    `Certifies that, unless otherwise specified in this block, the work identified in block 11 and described in this block was accomplished in accordance with ${regulation} and in respect to that work the items are considered ready for release to service. This is not a release under Part-145.`,
  ];
}

function organisationOf({ released }: ReleaseForm): Organisation {
  const none = { name: '', address: '', authority: '', approvalNumber: '', regulation: '' };
  return released?.organisation ?? none;
}

function organisationLines(form: ReleaseForm): Words[] {
  const { name, address } = organisationOf(form);
  return [{ text: stated(name), strong: name !== '' }, ...(address === '' ? [] : [address])];
}

function remarks({ entry }: PrintedEntry, { approvedData, release }: ReleaseForm): Words[] {
  const { hours, cycles } = (entry.data.usage ?? {}) as Usage;
  const run = [
    ...(typeof hours === 'number' ? [`${hours.toLocaleString('en-US')} hours`] : []),
    ...(typeof cycles === 'number' ? [`${cycles.toLocaleString('en-US')} cycles`] : []),
  ];
  return [
    `${entry.type}, done on ${dayOf(entry.performedAt)}: ${entry.summary}`,
    `Approved data: ${approvedDataInWords(approvedData) || notStated}`,
    ...(run.length === 0 ? [] : [`Run when the work was done: ${run.join(', ')}`]),
    ...(entry.supersedes === null
      ? []
      : [`Replaces the release of ${entry.supersedes}, which is withdrawn.`]),
    ...(release?.remarks === undefined ? [] : [release.remarks]),
  ];
}

function signatureLines(certified: ReleaseForm['certified']): Words[] {
  if (!certified) return [notStated];
  return [signedInWords(certified), { digits: `${certified.signature.slice(0, 26)}…` }];
}

function nameLines(certified: ReleaseForm['certified']): Words[] {
  if (!certified) return [notStated];
  const { workerName, workerAddress, licence } = certified;
  const held =
    licence && `Licence ${licence.number}${licence.authority === '' ? '' : `, ${licence.authority}`}`;
  return [workerName || workerAddress, ...(held ? [held] : [])];
}

function tick(isTicked: boolean): string {
  return isTicked ? '☒' : '☐';
}

function stated(text: string): string {
  return text || notStated;
}

const notStated = 'none stated';

/** `19 Nov 2026`, in UTC. */
function dayOf(time: string): string {
  const [year, month, day] = time.slice(0, 10).split('-');
  return `${day} ${months[Number(month) - 1]} ${year}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const notTheForm = 'This certificate gives no authority to install the item.';
const responsibilities = [
  'This certificate does not automatically constitute authority to install the item(s). Where the user/installer performs work in accordance with regulations of an airworthiness authority different than the airworthiness authority specified in block 1, it is essential that the user/installer ensures that his/her airworthiness authority accepts items from the airworthiness authority specified in block 1.',
  'Statements in blocks 13a and 14a do not constitute installation certification. In all cases aircraft maintenance records must contain an installation certification issued in accordance with the national regulations by the user/installer before the aircraft may be flown.',
];
