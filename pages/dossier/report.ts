/** Reports what the check has shown and what it has not. Texts from the dossier are inserted as text, never as markup. */
import type { DossierVerdict } from '../../src/maintenance/dossier-check/dossier-check.ts';
import { isoTime } from '../../src/proof/verify/steps.ts';
import { element } from '../verify/file-card.ts';

const icons = {
  pass: 'm5 12.5 4.5 4.5L19 7.5',
  fail: 'm7 7 10 10M17 7 7 17',
  incomplete: 'M12 6.5v7m0 4v.1',
  running: 'M12 3.5a8.5 8.5 0 1 0 8.5 8.5',
};

export function showRunning(name: string): void {
  element('outcome').hidden = false;
  showVerdict('running', 'Checking…', name);
  element('verdict').append(tag('progress', []));
  element('report').replaceChildren();
}

export function showProgress(share: number): void {
  const bar = document.querySelector<HTMLProgressElement>('#verdict progress');
  if (bar) bar.value = share;
}

/** Shows why the check could not be made at all. */
export function showTrouble(message: string): void {
  element('outcome').hidden = false;
  showVerdict('fail', 'The dossier could not be checked', message);
  element('report').replaceChildren();
}

export function showReport(result: DossierVerdict, { asked }: { asked: boolean }): void {
  const { dossier, verdict, faults, faultCount, gaps } = result;
  const words: Record<DossierVerdict['verdict'], [string, string]> = {
    pass: ['The dossier is valid', 'Everything in it was checked, and everything passed.'],
    fail: ['The dossier is not valid', `${amount(faultCount, 'fault was', 'faults were')} found.`],
    incomplete: [
      'Nothing contradicts the dossier',
      asked
        ? 'Everything in it is consistent. Some of it could not be proven; see below.'
        : 'Everything in it is consistent. The chain was not queried; see below what remains open.',
    ],
  };
  showVerdict(verdict, ...words[verdict]);
  element('report').replaceChildren(
    ...(faults.length > 0 ? section('What is wrong', faultList(result)) : []),
    ...(dossier ? section('The asset, as the proofs show it', factsOf(dossier, result)) : []),
    ...(dossier ? section('What was shown', shownList(result, asked)) : []),
    ...(gaps.size > 0 ? section('What was not shown', gapList(gaps)) : []),
    ...(dossier ? section('What no dossier can show', limits()) : []),
  );
}

type Fact = [name: string, value: string, ...small: string[]];

/** What the proofs say; only what no proof can say comes from dossier.json. */
function factsOf(dossier: Dossier, result: DossierVerdict): Node {
  const { facts, recounted, times } = result;
  const { asset, owner, madeAt } = dossier;
  const proven = facts?.asset;
  const unproven = proven ? [] : ['stated in dossier.json, and not proven'];
  const { name, serialNumber, partNumber } = proven ?? asset;
  const { entries = 0, certified = 0, withdrawn = [], installations = 0, owners = [] } = facts ?? {};
  const pending = (recounted?.entries ?? 0) - entries;
  const all: Fact[] = [
    ['Name', name || asset.assetId, ...unproven],
    ['Id', asset.assetId],
    ...(serialNumber ? [['Serial number', serialNumber, ...unproven] as Fact] : []),
    ...(partNumber ? [['Part number', partNumber, ...unproven] as Fact] : []),
    ['Owner', owner.name || '(no name)', owners.at(-1) ?? `${owner.address}, which is not proven`],
    ['Owners to date', String(owners.length)],
    [
      'Entries',
      `${entries.toLocaleString('en')} proven, ${certified.toLocaleString('en')} of them certified`,
      ...(withdrawn.length > 0 ? [withdrawnText(withdrawn)] : []),
      ...(pending > 0 ? [`${amount(pending, 'other has', 'others have')} no valid proof`] : []),
    ],
    usageFact(dossier, facts),
    ['Installations to date', String(installations)],
    ['Dossier created', madeAt, 'as dossier.json states it'],
    sealFact(result),
    ['Times', timesInWords[times]],
  ];
  const list = tag(
    'dl',
    all.flatMap(([name, value, ...small]) => [tag('dt', name), tag('dd', [value, ...small.map(smallPrint)])]),
  );
  list.className = 'facts';
  return list;
}

/** Nobody would read more. */
const mostWithdrawn = 20;

function withdrawnText(withdrawn: NonNullable<DossierVerdict['facts']>['withdrawn']): string {
  const named = withdrawn
    .slice(0, mostWithdrawn)
    .map(({ maintenanceId, correctedBy }) => `${maintenanceId} by ${correctedBy}`)
    .join(', ');
  const more = withdrawn.length > mostWithdrawn ? `, and ${withdrawn.length - mostWithdrawn} more` : '';
  return `${amount(withdrawn.length, 'certification was', 'certifications were')} withdrawn by a correction: ${named}${more}`;
}

function sealFact({ seal, sealed, verdict }: DossierVerdict): Fact {
  if (seal === 'missing' || seal === 'invalid') return ['Sealed', 'No', 'not shown to be complete'];
  const when = sealed ? `On ${isoTime(sealed.time)} at the latest` : 'At a time that nobody vouches for';
  const by = sealed ? `says ${sealed.by}` : 'when the dossier was created is only a statement';
  const isOwners = seal === 'valid' && verdict !== 'fail';
  return ['Sealed', when, by, isOwners ? 'as complete, by the owner' : 'not shown to be complete'];
}

function smallPrint(text: string): HTMLElement {
  const made = tag('small', text);
  made.className = text.startsWith('0x') ? 'address' : '';
  return made;
}

type Dossier = NonNullable<DossierVerdict['dossier']>;

const timesInWords: Record<DossierVerdict['times'], string> = {
  proven: 'A trusted clock vouches for those of all proofs',
  development:
    'Development evidence: no clock that Holdfast trusts by itself vouches for those of all proofs',
  unproven: 'Not proven: no trusted clock vouches for those of all proofs',
};

function usageFact({ asset }: Dossier, facts: DossierVerdict['facts']): Fact {
  const words = ({ hours, cycles }: Dossier['asset']['usage']) =>
    `${hours.toLocaleString('en')} hours, ${cycles.toLocaleString('en')} cycles`;
  const proven = facts?.usage ?? { hours: 0, cycles: 0 };
  const isAll = proven.hours === asset.usage.hours && proven.cycles === asset.usage.cycles;
  return ['Usage', words(proven), ...(isAll ? [] : [`${words(asset.usage)} with what is not proven`])];
}

function shownList({ counts, dossier, recounted: all, facts, seal }: DossierVerdict, asked: boolean): Node {
  const state = (done: number, wanted: number) => (done === wanted ? 'pass' : 'fail');
  const listed = dossier?.contents.length ?? 0;
  const items: [string, string, string][] = [
    ...(seal === 'valid'
      ? [
          [
            'pass',
            'The owner of the asset has sealed dossier.json, which lists every file',
            counts.files === listed
              ? 'So nothing was changed or left out since it was sealed. That includes the PDF files, whose text was not compared with the entries.'
              : 'What differs from that list was changed since.',
          ] as [string, string, string],
        ]
      : []),
    [
      state(counts.files, listed),
      `${amount(counts.files, 'file is', 'files are')} as dossier.json lists them`,
      `of ${listed}.${seal === 'valid' ? '' : ' That list is not sealed: what counts are the proofs below.'}`,
    ],
    [
      state(counts.entries, all?.entries ?? 0),
      `${amount(counts.entries, 'entry has', 'entries have')} the hash that was signed and anchored`,
      `of ${all?.entries}. ${facts?.entries} have a valid proof: the owner at that time sealed them${asked ? ', and they are on the chain' : ''}.`,
    ],
    facts?.isChain
      ? [
          'pass',
          `${amount(all?.entries ?? 0, 'entry is', 'entries are')} numbered without a gap`,
          'Each names the one before, so that none was removed or replaced between others.',
        ]
      : ['fail', 'The entries do not form a chain', 'Some are missing, or were replaced.'],
    [
      state(counts.signoffs, all?.signoffs ?? 0),
      `${amount(counts.signoffs, 'sign-off is valid', 'sign-offs are valid')}`,
      `of ${all?.signoffs}: signed by the key of the named worker, over exactly this entry, in the right order, by different people, and with licences that had not expired. ${facts?.signoffs} have a valid proof.`,
    ],
    ...(counts.versions > 0
      ? [
          [
            'pass',
            `${amount(counts.versions, 'proof', 'proofs')} of the asset and its transfers`,
            'follow each other without a gap, each sealed by the owner at that time.',
          ] as [string, string, string],
        ]
      : []),
    ...(counts.attachments > 0
      ? [
          [
            'pass',
            `${amount(counts.attachments, 'attached file has', 'attached files have')} the hash that an entry names`,
            '',
          ] as [string, string, string],
        ]
      : []),
  ];
  return steps(items);
}

function gapList(gaps: DossierVerdict['gaps']): Node {
  return steps(
    [...gaps].map(([message, times]) => [
      'skipped',
      message,
      times > 1 ? `This concerns ${times.toLocaleString('en')} proofs.` : '',
    ]),
  );
}

function faultList({ faults, faultCount }: DossierVerdict): Node {
  const more = faultCount - faults.length;
  return steps([
    ...faults.map(({ place, message }): [string, string, string] => ['fail', place, `${message}.`]),
    ...(more > 0
      ? [['fail', `${amount(more, 'more fault', 'more faults')}`, ''] as [string, string, string]]
      : []),
  ]);
}

function limits(): Node {
  const list = tag('ul', [
    tag(
      'li',
      'That an entry is true: the proof shows only who recorded and signed it, and that it has not changed since.',
    ),
    tag('li', 'That an authority issued the licences: they are shown as the organisation entered them.'),
    tag(
      'li',
      'That all work was recorded, or that nothing was recorded and the asset not given away after the dossier was sealed.',
    ),
    tag(
      'li',
      'When work was done, recorded or signed: entries state these times. A trusted clock vouches only that an entry or a sign-off existed at the time of its proof. What contradicts that is a fault.',
    ),
    tag(
      'li',
      'The names of vaults, what is installed in the asset, and what is due: they are shown as the service had them.',
    ),
  ]);
  list.className = 'message';
  return list;
}

function steps(items: [status: string, title: string, message: string][]): Node {
  const list = tag(
    'ol',
    items.map(([status, title, message]) => {
      const head = tag('p', [tag('span', title)]);
      head.className = 'head about';
      const text = tag('p', message);
      text.className = 'message';
      const item = tag('li', [mark(status === 'skipped' ? 'incomplete' : status), tag('div', [head, text])]);
      item.className = `step ${status}`;
      item.dataset.status = status;
      return item;
    }),
  );
  list.className = 'step-list';
  return list;
}

function section(title: string, content: Node): Node[] {
  return [tag('h3', title), content];
}

function showVerdict(kind: string, title: string, sentence: string): void {
  const box = element('verdict');
  box.className = `verdict ${kind}`;
  box.dataset.verdict = kind;
  const heading = tag('p', title);
  heading.className = 'title';
  const text = tag('p', sentence);
  text.className = 'sentence';
  box.replaceChildren(mark(kind), tag('div', [heading, text]));
}

function mark(kind: string): Node {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', icons[kind as keyof typeof icons] ?? icons.fail);
  svg.append(path);
  const box = tag('span', [svg]);
  box.className = 'mark';
  return box;
}

function amount(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function tag(name: string, content: string | (string | Node)[]): HTMLElement {
  const made = document.createElement(name);
  made.append(...(typeof content === 'string' ? [content] : content));
  return made;
}
