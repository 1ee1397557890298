/** The endpoint: where events go, how it fares, and what the holder of the link may do with it. */
import { make } from '../sign/view.ts';
import { badge, smallButton, timeText } from './parts.ts';
import type { Opened, Portal, TestOutcome } from './portal-calls.ts';
import { secretSection } from './secret-section.ts';

interface CardOptions {
  opened: Opened;
  /** Something new is in the log. */
  onSent(): Promise<void>;
}

export function endpointCard(portal: Portal, { opened, onSent }: CardOptions): HTMLElement {
  const facts = make('div', {});
  const told = make('div', { role: 'status' });
  const tell = (...children: Node[]) => told.replaceChildren(...children);
  const showFacts = (shown: Omit<Opened, 'mayChangeUrl' | 'mayManageSecret' | 'expiresAt'>) =>
    facts.replaceChildren(factList({ ...opened, ...shown }));
  showFacts(opened);
  const change = opened.mayChangeUrl ? urlForm(opened.url) : null;
  change?.element.addEventListener('submit', (event) => {
    event.preventDefault();
    void change.send(async (url) => {
      const { test, ...moved } = await portal.changeUrl(url);
      showFacts(moved);
      tell(outcome(test, 'The new URL is saved.'));
      await onSent();
    });
  });
  return make(
    'section',
    { class: 'card', 'aria-label': 'The endpoint' },
    facts,
    make(
      'div',
      { class: 'buttons' },
      smallButton('Send test event', {
        onFault: tell,
        async act() {
          tell(outcome(await portal.test(), ''));
          await onSent();
        },
      }),
      change?.opener ?? null,
    ),
    change?.element ?? null,
    told,
    opened.mayManageSecret ? secretSection(portal) : null,
  );
}

function factList({ url, status, disabledReason, eventTypes, publicKey, expiresAt }: Opened): HTMLElement {
  const why = disabledReason === null ? '' : disabledTexts[disabledReason];
  const types = eventTypes.map((type) => make('li', {}, make('code', {}, type)));
  const rows: [string, Node | string][] = [
    ['URL', make('code', {}, url)],
    ['Status', make('span', {}, badge(status), why)],
    ['Events', make('ul', { class: 'types' }, ...types)],
    ...(publicKey === null ? [] : [['Public key', make('code', {}, publicKey)] as [string, Node]]),
    ['Link', `valid until ${timeText(expiresAt)}`],
  ];
  return make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, text)]));
}

const disabledTexts = {
  owner: ' It was disabled by its owner. Nothing is sent.',
  gone: ' It answered 410 Gone. Nothing is sent until its owner enables it.',
  failing: ' It failed for five days. Nothing is sent until its owner enables it.',
};

function outcome({ delivered, statusCode, error, durationMs }: TestOutcome, before: string): HTMLElement {
  const text = delivered
    ? `The test event was delivered: the receiver answered ${statusCode} after ${durationMs} ms.`
    : `The test event was not delivered: ${error ?? `the receiver answered ${statusCode}`}`;
  return make('p', { class: delivered ? 'success' : 'trouble' }, `${before} ${text}`.trim());
}

/** Hidden until its button opens it. */
function urlForm(url: string) {
  const input = make('input', { type: 'url', required: true, maxlength: '2000', id: 'new-url' });
  input.value = url;
  const fault = make('div', { 'aria-live': 'assertive' });
  const save = make('button', { type: 'submit', class: 'small' }, 'Save and test');
  const element = make(
    'form',
    { class: 'url-form', hidden: true },
    make('label', { for: 'new-url' }, 'New URL'),
    input,
    save,
    fault,
  );
  const opener = make('button', { type: 'button', class: 'small' }, 'Change URL');
  const toggle = (open: boolean) => {
    element.hidden = !open;
    opener.setAttribute('aria-expanded', String(open));
  };
  opener.setAttribute('aria-expanded', 'false');
  opener.addEventListener('click', () => {
    toggle(element.hidden !== false);
    if (!element.hidden) input.focus();
  });
  async function send(act: (url: string) => Promise<void>): Promise<void> {
    save.disabled = true;
    fault.replaceChildren();
    try {
      await act(input.value);
      toggle(false);
    } catch (error) {
      fault.replaceChildren(make('p', { class: 'trouble' }, (error as Error).message));
    } finally {
      save.disabled = false;
    }
  }
  return { element, opener, send };
}
