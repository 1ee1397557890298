/** One delivery of the log: its line, and behind it what is sent, every attempt with its answer, and a retry. */
import { make } from '../sign/view.ts';
import { badge, smallButton, timeText } from './parts.ts';
import type { Delivery, Portal, WholeDelivery } from './portal-calls.ts';

/** After a retry, until it has ended. */
const lookAgainMs = 1_500;
const mostLooks = 20;

export function deliveryItem(portal: Portal, delivery: Delivery): HTMLElement {
  const summary = make('summary', {});
  const inside = make('div', { class: 'inside' });
  const details = make('details', { class: 'delivery' }, summary, inside);
  const showFault = (...children: Node[]) => inside.prepend(...children);

  function showLine({ type, status, createdAt }: Delivery): void {
    const time = make('time', { datetime: createdAt }, timeText(createdAt));
    summary.replaceChildren(make('code', {}, type), badge(status), time);
  }

  function showWhole(whole: WholeDelivery): void {
    showLine(whole);
    inside.replaceChildren(
      facts(whole),
      isRetriable(whole)
        ? smallButton('Retry now', {
            onFault: showFault,
            async act() {
              await portal.retry(whole.id);
              await follow(whole.attempts.length);
            },
          })
        : '',
      make('h3', {}, 'Attempts'),
      ...attempts(whole),
      make('h3', {}, 'Payload'),
      make('pre', { tabindex: '0', 'aria-label': 'Payload' }, pretty(whole.envelope)),
    );
  }

  /** Until another attempt is in the log. */
  async function follow(before: number): Promise<void> {
    for (let looks = 0; looks < mostLooks && details.open; looks += 1) {
      const whole = await portal.delivery(delivery.id);
      if (whole.attempts.length > before || looks === mostLooks - 1) {
        showWhole(whole);
        return;
      }
      showLine(whole);
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  showLine(delivery);
  details.addEventListener('toggle', () => {
    if (!details.open) return;
    if (inside.childElementCount === 0) inside.replaceChildren(make('p', { class: 'soft' }, 'One moment…'));
    portal
      .delivery(delivery.id)
      .then(showWhole)
      .catch((error: Error) =>
        inside.replaceChildren(make('p', { class: 'trouble', role: 'alert' }, error.message)),
      );
  });
  return details;
}

function isRetriable({ type, status }: Delivery): boolean {
  return type !== 'webhook.test' && status !== 'succeeded' && status !== 'delivering';
}

function facts({ eventId, nextAttemptAt }: WholeDelivery): HTMLElement {
  const next =
    nextAttemptAt === null ? [] : [make('dt', {}, 'Next attempt'), make('dd', {}, timeText(nextAttemptAt))];
  return make('dl', {}, make('dt', {}, 'Event'), make('dd', {}, make('code', {}, eventId)), ...next);
}

function attempts({ attempts: made, status }: WholeDelivery): HTMLElement[] {
  if (made.length === 0) {
    const why = status === 'skipped' ? 'None: the endpoint was disabled.' : 'None yet.';
    return [make('p', { class: 'soft' }, why)];
  }
  return made
    .toReversed()
    .map(({ number, at, durationMs, statusCode, error, responseHeaders, responseBody }) => {
      const outcome = error ?? `The receiver answered ${statusCode}.`;
      const headers = Object.entries(responseHeaders).map(([name, value]) => `${name}: ${value}`);
      const answer = [...headers, '', responseBody].join('\n').trim();
      return make(
        'div',
        { class: 'attempt' },
        make('p', {}, make('b', {}, `Attempt ${number}: `), outcome),
        make('p', { class: 'soft' }, `${timeText(at)}, ${durationMs} ms`),
        answer === ''
          ? null
          : make('pre', { tabindex: '0', 'aria-label': `Answer to attempt ${number}` }, answer),
      );
    });
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
