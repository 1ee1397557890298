/** The signing secret: shown when asked for, and rotated after a second look. */
import { make } from '../sign/view.ts';
import { smallButton, timeText } from './parts.ts';
import type { Portal } from './portal-calls.ts';

export function secretSection(portal: Portal): HTMLElement {
  const shown = make('code', { class: 'secret' }, 'whsec_••••••••••••••••');
  const told = make('div', { role: 'status' });
  const tell = (...children: Node[]) => told.replaceChildren(...children);
  const rotate = make('dialog', { 'aria-labelledby': 'rotate-title' });
  const reveal = smallButton('Show secret', {
    onFault: tell,
    async act() {
      shown.textContent = await portal.secret();
      reveal.remove();
    },
  });
  rotate.append(
    make('h2', { id: 'rotate-title' }, 'Rotate the signing secret?'),
    make(
      'p',
      {},
      'The new secret signs at once. For 24 hours the old one also signs the webhook-signature header, so that your receiver can switch without a gap.',
    ),
    make(
      'div',
      { class: 'buttons' },
      make('button', { type: 'button', class: 'small', click: () => rotate.close() }, 'Cancel'),
      smallButton('Rotate', {
        onFault(...children) {
          rotate.close();
          tell(...children);
        },
        async act() {
          const { secret, previousSecretUntil } = await portal.rotateSecret();
          shown.textContent = secret;
          reveal.remove();
          rotate.close();
          const until = timeText(previousSecretUntil);
          tell(
            make(
              'p',
              { class: 'success' },
              `The new secret is in use. The old one also signs until ${until}.`,
            ),
          );
        },
      }),
    ),
  );
  return make(
    'section',
    { class: 'secret-section', 'aria-label': 'Signing secret' },
    make('h2', {}, 'Signing secret'),
    shown,
    make(
      'div',
      { class: 'buttons' },
      reveal,
      make('button', { type: 'button', class: 'small', click: () => rotate.showModal() }, 'Rotate'),
    ),
    told,
    rotate,
  );
}
