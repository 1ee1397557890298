/**
 * The tooltip of the element under the pointer or with the keyboard focus. The page has one, and moves it: a row of a long
 * list has several such elements, and a component for each took longer to render than the row.
 */
import type { FocusEvent, PointerEvent } from 'react';

const delayMs = 300;
/** Distance between the box and its element, and to the edge of the window. */
const gapPx = 8;

let box: HTMLElement | null = null;
let about: Element | null = null;
let waiting: number | undefined;

/** Properties for the element with the tooltip. */
export function hint(text: string) {
  return { 'data-hint': text, onPointerEnter, onPointerLeave: hideHint, onFocus, onBlur: hideHint };
}

export function showHint(target: HTMLElement, text: string): void {
  hideHint();
  if (!target.isConnected) return;
  about = target;
  box ??= makeBox();
  box.textContent = text;
  box.classList.toggle('mono', target.classList.contains('mono'));
  document.body.append(box);
  // On top of everything, including dialogs.
  box.showPopover();
  place(box, target.getBoundingClientRect());
  if (text !== target.getAttribute('aria-label')) target.setAttribute('aria-describedby', box.id);
  window.addEventListener('scroll', hideHint, { capture: true, passive: true });
  window.addEventListener('keydown', onKey);
}

export function hideHint(): void {
  window.clearTimeout(waiting);
  if (!about) return;
  about.removeAttribute('aria-describedby');
  about = null;
  box?.remove();
  window.removeEventListener('scroll', hideHint, { capture: true });
  window.removeEventListener('keydown', onKey);
}

function onPointerEnter({ currentTarget, pointerType }: PointerEvent<HTMLElement>): void {
  if (pointerType === 'touch') return;
  window.clearTimeout(waiting);
  waiting = window.setTimeout(() => showHint(currentTarget, currentTarget.dataset.hint ?? ''), delayMs);
}

function onFocus({ currentTarget }: FocusEvent<HTMLElement>): void {
  if (currentTarget.matches(':focus-visible')) showHint(currentTarget, currentTarget.dataset.hint ?? '');
}

function onKey({ key }: KeyboardEvent): void {
  if (key === 'Escape') hideHint();
}

function makeBox(): HTMLElement {
  const made = document.createElement('div');
  made.id = 'hint';
  made.className = 'hint';
  made.role = 'tooltip';
  made.popover = 'manual';
  return made;
}

/** Above the element, or below if there is no room; never beyond the sides. */
function place(made: HTMLElement, target: DOMRect): void {
  const { width, height } = made.getBoundingClientRect();
  const middle = target.left + target.width / 2;
  const most = document.documentElement.clientWidth - width - gapPx;
  const left = Math.max(gapPx, Math.min(middle - width / 2, most));
  const above = target.top >= height + 2 * gapPx;
  made.style.left = `${left}px`;
  made.style.top = `${above ? target.top - height - gapPx : target.bottom + gapPx}px`;
  made.style.setProperty('--hint-arrow', `${middle - left}px`);
  made.dataset.side = above ? 'above' : 'below';
}
