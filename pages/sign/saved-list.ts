/** What this device keeps: the page at /sign/, and the way there from other views. */
import { readAllSaved, removeSaved, type SavedRequest } from './saved.ts';
import { make, show, timeText } from './view.ts';

export async function showSavedList(): Promise<void> {
  const all = await readAllSaved();
  show(
    'Saved on this device',
    all.length === 0
      ? make('p', {}, 'Nothing. Open a link to sign while there is a network, and it is saved here.')
      : make('ul', { class: 'saved' }, ...all.map(savedItem)),
  );
}

/** A link to the list, if it has more than what is open. */
export async function showWayToList(token: string): Promise<void> {
  const others = (await readAllSaved()).filter((saved) => saved.token !== token);
  const footer = document.getElementById('way') as HTMLElement;
  const waiting = others.filter(({ state }) => state === 'waiting').length;
  const text = `${others.length} more saved on this device${waiting === 0 ? '' : `, ${waiting} to be sent`}`;
  footer.replaceChildren(...(others.length === 0 ? [] : [make('a', { class: 'way', href: '/sign/' }, text)]));
}

function savedItem(saved: SavedRequest): HTMLElement {
  const { token, request, state } = saved;
  return make(
    'li',
    { class: 'card' },
    make(
      'a',
      { class: 'item', href: `/sign/${token}` },
      make('b', {}, `${request.message.role} · ${request.assetName}`),
      make('span', {}, request.entry.summary),
    ),
    make('p', { class: `state ${state}` }, stateText(saved)),
    state === 'waiting'
      ? null
      : make(
          'button',
          {
            type: 'button',
            class: 'plain',
            'aria-label': `Remove ${request.assetName} from this device`,
            click: () => void removeSaved(token),
          },
          'Remove',
        ),
  );
}

function stateText({ state, request, signoff, refusal }: SavedRequest): string {
  switch (state) {
    case 'open':
      return `To be signed until ${timeText(request.expiresAt)}`;
    case 'waiting':
      return `Waiting to be sent, until ${timeText(request.expiresAt)}`;
    case 'sent':
      return signoff === null ? 'Sent' : `Sent. Signed ${timeText(signoff.signedAt)}`;
    case 'refused':
      return `Not accepted: ${refusal ?? ''}`;
  }
}
