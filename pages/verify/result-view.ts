/** Shows the steps and the verdict. Texts from documents and nodes are inserted as text, never as markup. */
import type { HistoryVerification } from '../../src/proof/verify/history.ts';
import { isoTime, type StepResult, type Verification, type Voucher } from '../../src/proof/verify/steps.ts';
import type { AllClockWords } from './clock-words.ts';
import { element } from './file-card.ts';
import type { Fact } from './proof-facts.ts';
import { groupsOf, stepWords } from './step-groups.ts';
import type { Statement, Status, Verdict } from './verdict-words.ts';

/** A longer list would slow down the browser. */
export const mostShown = 500;

const words: Record<Status, string> = { pass: 'passed', fail: 'failed', skipped: 'skipped' };

export function showOutline(): void {
  const items = Object.entries(stepWords).map(([name, about]) => tag('li', [tag('b', name), about]));
  element('outline').replaceChildren(...items);
}

/** For the state before anything was chosen. */
export function showNothing(): void {
  element('outcome').hidden = true;
  element('empty').hidden = false;
}

export function showRunning(): void {
  open();
  showVerdict('running', 'Checking…', '');
  element('steps').setAttribute('aria-busy', 'true');
}

export function showProgress(share: number): void {
  const bar =
    document.querySelector('#verdict progress') ?? element('verdict').appendChild(tag('progress', []));
  bar.setAttribute('aria-label', 'Reading the content');
  (bar as HTMLProgressElement).value = share;
}

/** Shows why the check could not be made at all. */
export function showTrouble(message: string, title = 'The proof could not be checked'): void {
  open();
  showVerdict('trouble', title, message);
  element('proven').replaceChildren();
  element('steps').replaceChildren();
}

export interface ShownResult extends Verdict {
  facts: Fact[];
  clocks: AllClockWords;
}

export function showResult({ steps, vouchers }: Verification, shown: ShownResult): void {
  open();
  showVerdict(shown.kind, shown.title, shown.sentence);
  element('proven').replaceChildren(
    trustSection(vouchers),
    ...statementLists(shown.statements),
    ...factList(shown.facts),
  );
  element('steps').replaceChildren(tag('h2', 'Step by step', 'part'), ...stepGroups(steps, shown.clocks));
}

/** A history: whether its proofs follow each other, and the details of each. */
export function showHistory(
  { proofs, chain }: HistoryVerification,
  verdict: Verdict,
  clocks: AllClockWords[],
): void {
  open();
  showVerdict(verdict.kind, verdict.title, verdict.sentence);
  element('proven').replaceChildren(...statementLists(verdict.statements));
  const shown = proofs.slice(0, mostShown).map(({ steps, vouchers, verdict }, place) => {
    const passed = steps.filter(({ status }) => status === 'pass').length;
    const summary = tag('summary', `Proof ${place + 1}: ${passed} of ${steps.length} steps passed`, verdict);
    const groups = stepGroups(steps, clocks[place] ?? new Map());
    return tag('details', [summary, trustSection(vouchers, 'h3'), ...groups], 'proof');
  });
  const left = proofs.length - shown.length;
  const more = left > 0 ? [tag('p', `${left} more were checked and are not listed here.`)] : [];
  const order = stepItem({ name: 'history', ...chain }, 'Order of its proofs');
  const heading = tag('section', [tag('h3', 'The history'), tag('ol', [order], 'step-list')]);
  element('steps').replaceChildren(tag('h2', 'Step by step', 'part'), heading, ...shown, ...more);
}

/** Whom the verdict trusts, and whose choice that is. */
function trustSection(vouchers: Voucher[], level: 'h2' | 'h3' = 'h2'): HTMLElement {
  const items = vouchers.map(({ time, by, isShipped }) =>
    tag('li', [
      tag('b', isoTime(time)),
      tag('span', [
        capital(by),
        tag(
          'small',
          isShipped
            ? 'Part of the trust that ships with Holdfast'
            : 'Your choice: the trust file that you gave',
        ),
      ]),
    ]),
  );
  const nobody = tag('p', 'Nobody who is trusted vouches for a time.');
  const heading = tag(level, 'Who vouches for the time', level === 'h2' ? 'part' : '');
  return tag('section', [heading, items.length === 0 ? nobody : tag('ul', items)], 'trusted');
}

const listTitles: [Status, string][] = [
  ['fail', 'Disproved'],
  ['pass', 'Proven'],
  ['skipped', 'Not proven'],
];

/** Proven and unproven statements are listed separately, so that nobody confuses them. */
function statementLists(statements: Statement[]): HTMLElement[] {
  return listTitles.flatMap(([status, title]) => {
    const items = statements
      .filter((statement) => statement.status === status)
      .map(({ text }) => tag('li', [icon(status), tag('span', withHashes(text))]));
    if (items.length === 0) return [];
    const made = tag('section', [tag('h2', title, 'part'), tag('ul', items)], `statements ${status}`);
    made.dataset.statements = status;
    return [made];
  });
}

function factList(facts: Fact[]): HTMLElement[] {
  if (facts.length === 0) return [];
  const rows = facts.flatMap(([name, value]) => [tag('dt', name), tag('dd', withHashes(value))]);
  return [tag('section', [tag('h2', 'What the proof says it is about', 'part'), tag('dl', rows)], 'facts')];
}

function stepGroups(steps: Verification['steps'], clocks: AllClockWords): HTMLElement[] {
  return groupsOf(steps, clocks).map(({ title, note, steps }) =>
    tag('section', [
      tag('h3', title),
      ...(note === '' ? [] : [tag('p', withHashes(note), 'note')]),
      tag(
        'ol',
        steps.map((step) => stepItem(step, stepWords[step.name])),
        'step-list',
      ),
    ]),
  );
}

function stepItem({ name, status, message }: StepResult & { name: string }, about: string): HTMLElement {
  const item = tag('li', [
    tag('span', [icon(status)], 'mark'),
    tag('div', [
      tag('p', [tag('span', about, 'about'), tag('code', name), tag('span', words[status], 'badge')], 'head'),
      tag('p', withHashes(message), 'message'),
    ]),
  ]);
  item.className = `step ${status}`;
  item.dataset.step = name;
  item.dataset.status = status;
  return item;
}

function showVerdict(kind: string, title: string, sentence: string): void {
  const verdict = element('verdict');
  verdict.className = `verdict ${kind}`;
  verdict.dataset.verdict = kind;
  verdict.replaceChildren(
    tag('span', [icon(kind)], 'mark'),
    tag('div', [tag('p', title, 'title'), ...(sentence === '' ? [] : [tag('p', sentence, 'sentence')])]),
  );
}

function open(): void {
  const outcome = element('outcome');
  const first = outcome.hidden;
  outcome.hidden = false;
  element('empty').hidden = true;
  element('steps').removeAttribute('aria-busy');
  // On a phone it appears below the visible area.
  if (first) outcome.scrollIntoView({ block: 'nearest' });
}

/** Makes hashes and addresses stand out, and lets them break across lines. */
function withHashes(message: string): (string | Node)[] {
  return message.split(/(0x[0-9a-f]{16,})/i).map((part, at) => (at % 2 === 1 ? tag('code', part) : part));
}

const shapes: Record<string, string> = {
  pass: 'm6.5 12.5 3.6 3.6 7.4-8',
  fail: 'm7.5 7.5 9 9m0-9-9 9',
  skipped: 'M7 12h10',
  incomplete: 'M12 7v6m0 3.6v.1',
  trouble: 'M12 7v6m0 3.6v.1',
  running: 'M12 4a8 8 0 1 1-8 8',
};

/** Decorative: the text beside it says the same. */
function icon(kind: string): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(namespace, 'path');
  path.setAttribute('d', shapes[kind] ?? '');
  svg.append(path);
  return svg;
}

function tag<K extends keyof HTMLElementTagNameMap>(
  name: K,
  inside: string | (string | Node)[],
  className = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...[inside].flat());
  return made;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
