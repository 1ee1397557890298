/** The files that belong to what is signed: pictures are shown on the page, other files are opened by the device. */
import { callFor } from './call.ts';
import { make } from './view.ts';

interface AttachedFile {
  fileId: string;
  name: string;
}

/** Shown as what they are; anything else is only saved, so that no file runs as part of this page. */
const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export function fileList(token: string, files: readonly AttachedFile[]): HTMLElement {
  return make(
    'ul',
    { class: 'files', 'aria-label': 'Attachments' },
    ...files.map((file) => make('li', {}, ...fileButton(token, file))),
  );
}

function fileButton(token: string, { fileId, name }: AttachedFile): HTMLElement[] {
  const below = make('div', { 'aria-live': 'polite' });
  const button = make('button', { type: 'button', class: 'file', click: () => void open() }, name);
  async function open(): Promise<void> {
    button.disabled = true;
    try {
      const response = await callFor('damc/sign-requests/file', { token, fileId });
      const type = response.headers.get('content-type') ?? '';
      const url = URL.createObjectURL(await response.blob());
      if (pictures.has(type)) below.replaceChildren(make('img', { src: url, alt: name }));
      else {
        make('a', { href: url, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(url), 60_000);
      }
    } catch (error) {
      below.replaceChildren(make('p', { class: 'trouble' }, (error as Error).message));
    } finally {
      button.disabled = false;
    }
  }
  return [button, below];
}
