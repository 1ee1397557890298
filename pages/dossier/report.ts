/** Reports what the check has shown and what it has not. Texts from the dossier are inserted as text, never as markup. */
import type { DossierVerdict } from '../../src/maintenance/dossier-check/dossier-check.ts';
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
    ...(dossier ? section('The asset', factsOf(dossier, result)) : []),
    ...(dossier ? section('What was shown', shownList(result, asked)) : []),
    ...(gaps.size > 0 ? section('What was not shown', gapList(gaps)) : []),
    ...(dossier ? section('What no dossier can show', limits()) : []),
  );
}

function factsOf(
  { asset, owner, owners, installations, madeAt }: Dossier,
  { recounted, developmentEvidence }: DossierVerdict,
): Node {
  const { entries = 0, certified = 0 } = recounted ?? {};
  const facts: [string, string, string?][] = [
    ['Name', asset.name || asset.assetId],
    ['Id', asset.assetId],
    ...(asset.serialNumber ? [['Serial number', asset.serialNumber] as [string, string]] : []),
    ...(asset.partNumber ? [['Part number', asset.partNumber] as [string, string]] : []),
    ['Owner', owner.name || '(no name)', owner.address],
    ['Owners to date', String(owners.length)],
    ['Entries', `${entries.toLocaleString('en')}, ${certified.toLocaleString('en')} of them certified`],
    [
      'Usage',
      `${asset.usage.hours.toLocaleString('en')} hours, ${asset.usage.cycles.toLocaleString('en')} cycles`,
    ],
    ['Installations to date', String(installations.length)],
    ['Dossier created', new Date(madeAt).toUTCString()],
    ...(developmentEvidence
      ? [['Evidence', 'Development only: its times are no evidence for anyone else'] as [string, string]]
      : []),
  ];
  const list = tag(
    'dl',
    facts.flatMap(([name, value, small]) => [
      tag('dt', name),
      tag('dd', small === undefined ? value : [value, tag('small', small)]),
    ]),
  );
  list.className = 'facts';
  return list;
}

type Dossier = NonNullable<DossierVerdict['dossier']>;

function shownList({ counts, dossier, recounted: all }: DossierVerdict, asked: boolean): Node {
  const state = (done: number, wanted: number) => (done === wanted ? 'pass' : 'fail');
  const items: [string, string, string][] = [
    [
      state(counts.files, dossier?.contents.length ?? 0),
      `${amount(counts.files, 'file is', 'files are')} as dossier.json lists them`,
      `of ${dossier?.contents.length}. That list is not signed: what counts are the proofs below.`,
    ],
    [
      state(counts.entries, all?.entries ?? 0),
      `${amount(counts.entries, 'entry has', 'entries have')} the hash that was signed and anchored`,
      `of ${all?.entries}. ${all?.provenEntries} have a proof: the owner at that time sealed them${asked ? ', and they are on the chain' : ''}.`,
    ],
    [
      state(counts.signoffs, all?.signoffs ?? 0),
      `${amount(counts.signoffs, 'sign-off is valid', 'sign-offs are valid')}`,
      `of ${all?.signoffs}: signed by the key of the named worker, over exactly this entry, in the right order, by different people, and with licences that had not expired.`,
    ],
    [
      'pass',
      `${amount(counts.versions, 'proof', 'proofs')} of the asset and its transfers`,
      'follow each other without a gap, each sealed by the owner at that time.',
    ],
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
  return steps(items.filter(([, title]) => !title.startsWith('0 proofs')));
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
    tag('li', 'That all work was recorded, or that nothing was recorded after the dossier was created.'),
    tag('li', 'The names of vaults and what is due: they come from the service and are not anchored.'),
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
