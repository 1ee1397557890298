/** Small parts of the page. */
import { make } from '../sign/view.ts';

export function badge(status: string): HTMLElement {
  return make('span', { class: `badge ${status}` }, status);
}

interface ButtonOptions {
  act(): Promise<void>;
  /** Shows why it failed. */
  onFault(...children: Node[]): void;
}

/** Cannot be pressed again while it works. */
export function smallButton(label: string, { act, onFault }: ButtonOptions): HTMLButtonElement {
  const button = make('button', { type: 'button', class: 'small', click: () => void press() }, label);
  async function press(): Promise<void> {
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      onFault(make('p', { class: 'trouble', role: 'alert' }, (error as Error).message));
    } finally {
      button.disabled = false;
    }
  }
  return button;
}

export function timeText(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}
