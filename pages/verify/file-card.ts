/** One of the file inputs: shows the chosen file, and accepts dropped ones. */
import { documentTextOf, isPdf } from './embedded-proof.ts';
import { sizeText } from './size-text.ts';

export interface FileCard {
  file(): File | null;
  set(file: File | null): void;
}

export function createFileCard(
  id: string,
  { empty, onChange }: { empty: string; onChange(): void },
): FileCard {
  const card = element(`${id}-card`);
  const input = element<HTMLInputElement>(id);
  const state = element(`${id}-state`);
  const clear = card.querySelector('button');
  let chosen: File | null = null;

  function show(): void {
    card.classList.toggle('chosen', chosen !== null);
    state.textContent = chosen === null ? empty : `${chosen.name} · ${sizeText(chosen.size)}`;
    if (clear) clear.hidden = chosen === null;
  }
  function set(file: File | null): void {
    chosen = file;
    // Otherwise choosing the same file again would not fire a change event.
    input.value = '';
    show();
    onChange();
  }
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    if (file) set(file);
  });
  clear?.addEventListener('click', () => {
    set(null);
    input.focus();
  });
  show();
  return { file: () => chosen, set };
}

export interface DropTargets {
  proof: FileCard;
  content: FileCard;
  trust: FileCard;
}

/** A file dropped on a card goes there; files dropped elsewhere, or several at once, are assigned by what they are. */
export function takeDrops(targets: DropTargets): void {
  const cards = Object.entries(targets).map(([id, file]) => ({ card: element(`${id}-card`), file }));
  const mark = (target: EventTarget | null) => {
    for (const { card } of cards)
      card.classList.toggle('over', target instanceof Node && card.contains(target));
  };
  addEventListener('dragover', (event) => {
    event.preventDefault();
    mark(event.target);
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(null);
  });
  addEventListener('drop', async (event) => {
    event.preventDefault();
    mark(null);
    const files = [...(event.dataTransfer?.files ?? [])];
    const [only] = files;
    const target = event.target instanceof Node ? event.target : null;
    const place = cards.find(({ card }) => card.contains(target));
    if (only && files.length === 1 && place) return place.file.set(only);
    for (const file of files) targets[await kindOf(file)].set(file);
  });
}

async function kindOf(file: File): Promise<keyof DropTargets> {
  const start = await startOf(file);
  if (isTrust(start)) return 'trust';
  const isProof = isPdf(start) ? await hasEmbeddedProof(file) : /"holdfast\/(proof|history)@/.test(start);
  return isProof ? 'proof' : 'content';
}

export async function isTrustFile(file: File): Promise<boolean> {
  return isTrust(await startOf(file));
}

function isTrust(start: string): boolean {
  return /"holdfast\/trust@/.test(start);
}

function startOf(file: File): Promise<string> {
  const start = file.slice(0, 4096).text();
  return start.catch(() => '');
}

/** A PDF may be a certificate, or the content itself. */
function hasEmbeddedProof(file: File): Promise<boolean> {
  return documentTextOf(file).then(
    () => true,
    () => false,
  );
}

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}
