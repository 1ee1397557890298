/** What is on the page: one view at a time, made of plain elements. */

type Child = Node | string | null;

/** An element with attributes; a function is a listener for clicks. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | boolean | (() => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener('click', value);
    else if (value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Replaces the view. Its heading gets the focus, so that screen readers begin there. */
export function show(title: string, ...children: Child[]): void {
  const view = document.getElementById('view') as HTMLElement;
  const heading = make('h1', { tabindex: '-1' }, title);
  view.replaceChildren(heading, ...children.filter((child) => child !== null));
  view.removeAttribute('aria-busy');
  document.title = `${title} · Holdfast`;
  heading.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

/** A view that only explains why it does not go on. */
export function showTrouble(title: string, message: string, ...more: Child[]): void {
  show(title, make('p', { class: 'trouble', role: 'alert' }, message), ...more);
}

/** One large button, which cannot be pressed twice; what it throws is shown above it. */
export function actButton(label: string, act: () => Promise<void>): HTMLElement {
  const fault = make('div', { 'aria-live': 'assertive' });
  const button = make('button', { type: 'button', class: 'big', click: () => void press() }, label);
  async function press(): Promise<void> {
    button.disabled = true;
    fault.replaceChildren();
    try {
      await act();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      fault.replaceChildren(make('p', { class: 'trouble' }, message));
    } finally {
      button.disabled = false;
    }
  }
  return make('div', { class: 'act' }, fault, button);
}

export function timeText(time: string): string {
  return new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}
