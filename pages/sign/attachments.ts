/** The files that belong to what is signed: pictures are shown on the page, other files are opened by the device. */
import { fetchFile } from './keeping.ts';
import { readSaved, type SavedFile } from './saved.ts';
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
      const { type, bytes } = await findFile(token, fileId);
      const isPicture = pictures.has(type);
      const url = URL.createObjectURL(
        new Blob([bytes], { type: isPicture ? type : 'application/octet-stream' }),
      );
      if (isPicture) below.replaceChildren(make('img', { src: url, alt: name }));
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

/** From this device if it has it. */
async function findFile(token: string, fileId: string): Promise<SavedFile> {
  const saved = await readSaved(token);
  const file =
    saved?.files.find((one) => one.fileId === fileId) ??
    (await fetchFile(token, fileId).catch((error) => {
      if (saved === null || error.code !== 'offline') throw error;
      throw new Error('This attachment is not saved on this device, and there is no network.', {
        cause: error,
      });
    }));
  if (file === null) throw new Error('This attachment cannot be opened here.');
  return file;
}
