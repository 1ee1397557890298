/** The delivery log, newest first, in pages; each delivery opens in its place. */
import { make } from '../sign/view.ts';
import { deliveryItem } from './delivery-item.ts';
import { smallButton } from './parts.ts';
import type { Portal } from './portal-calls.ts';

const statuses = ['pending', 'delivering', 'succeeded', 'failed', 'skipped'];

export function deliveryLog(portal: Portal): { element: HTMLElement; refresh(): Promise<void> } {
  const list = make('ul', { class: 'deliveries' });
  const told = make('div', { role: 'status' });
  const choice = make(
    'select',
    { id: 'status' },
    make('option', { value: '' }, 'any status'),
    ...statuses.map((status) => make('option', { value: status }, status)),
  );
  let cursor: string | null = null;
  /** Answers to earlier questions are of no use any more. */
  let asked = 0;

  async function load(after: string | null): Promise<void> {
    asked += 1;
    const question = asked;
    const status = choice.value;
    const page = await portal.deliveries({
      ...(status !== '' && { status }),
      ...(after !== null && { cursor: after }),
    });
    if (question !== asked) return;
    if (after === null) list.replaceChildren();
    list.append(...page.deliveries.map((delivery) => make('li', {}, deliveryItem(portal, delivery))));
    cursor = page.cursor;
    older.hidden = cursor === null;
    const empty = list.childElementCount === 0;
    const text = cursor === null ? 'No deliveries.' : 'None among the newest.';
    told.replaceChildren(...(empty ? [make('p', { class: 'soft' }, text)] : []));
  }

  const tell = (...children: Node[]) => told.replaceChildren(...children);
  const older = smallButton('Show older', { onFault: tell, act: () => load(cursor) });
  const refresh = smallButton('Refresh', { onFault: tell, act: () => load(null) });
  older.hidden = true;
  choice.addEventListener('change', () => refresh.click());
  const element = make(
    'section',
    { class: 'log', 'aria-labelledby': 'log-title' },
    make(
      'div',
      { class: 'log-head' },
      make('h2', { id: 'log-title' }, 'Deliveries'),
      make('label', { for: 'status', class: 'hidden' }, 'Status'),
      choice,
      refresh,
    ),
    list,
    told,
    make('div', { class: 'buttons' }, older),
  );
  return { element, refresh: () => load(null) };
}
