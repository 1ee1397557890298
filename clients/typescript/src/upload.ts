/** Sends a file in a form, from memory or as a stream, and tells how far it is. */
import type { UploadProgress } from './operation-types.ts';

type Bytes = Blob | Uint8Array<ArrayBuffer>;
type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A function that opens the stream allows to try again after a failure; a stream alone can be sent only once. */
export type FileContent = OpenedContent | (() => OpenedContent | Promise<OpenedContent>);

type OpenedContent = Bytes | Stream;

export type FileToSend =
  | FileContent
  | {
      content: FileContent;
      /** The file name in the form. */
      name?: string;
      mediaType?: string;
      /** For the progress of a stream. */
      size?: number;
    };

type Listener = (progress: UploadProgress) => void;

export interface Upload {
  contentType: string;
  isRepeatable: boolean;
  open(): Promise<OpenedContent>;
  send(opened: OpenedContent, url: string, request: RequestInit): Promise<Response>;
}

export function createUpload(
  fields: Record<string, unknown>,
  file: FileToSend,
  { fetcher, onProgress }: { fetcher: typeof fetch; onProgress: Listener | undefined },
): Upload {
  const { content, name, mediaType, size } = describe(file);
  const boundary = `holdfast-${randomHex(16)}`;
  const head = new TextEncoder().encode(
    `${Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(
        ([field, value]) =>
          `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
      )
      .join(
        '',
      )}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${quoted(name)}"\r\n` +
      `content-type: ${mediaType.replace(/[\r\n]/g, '')}\r\n\r\n`,
  );
  const tail = new TextEncoder().encode(`\r\n--${boundary}--\r\n`);

  async function send(opened: OpenedContent, url: string, request: RequestInit): Promise<Response> {
    const wrap = (bytes: Bytes) => new Blob([head, bytes, tail]);
    if (isBytes(opened) && !onProgress) return fetcher(url, { ...request, body: wrap(opened) });
    // Pages cannot send a stream over HTTP/1.1, and only XMLHttpRequest tells them how far an upload is.
    if (hasXmlHttpRequest()) {
      const bytes = isBytes(opened) ? opened : await new Response(toReadable(chunksOf(opened))).blob();
      if (!onProgress) return fetcher(url, { ...request, body: wrap(bytes) });
      return sendFromPage(url, { request, body: wrap(bytes), onProgress });
    }
    const total = isBytes(opened) ? sizeOf(opened) : (size ?? null);
    const counted = countBytes(chunksOf(opened), (sentBytes) =>
      onProgress?.({ sentBytes, totalBytes: total }),
    );
    const body = toReadable(inOrder(head, counted, tail));
    return fetcher(url, { ...request, body, duplex: 'half' } as RequestInit);
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    isRepeatable: typeof content === 'function' || isBytes(content),
    open: async () => (typeof content === 'function' ? await content() : content),
    send,
  };
}

export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function describe(file: FileToSend): {
  content: FileContent;
  name: string;
  mediaType: string;
  size?: number;
} {
  const isDescribed = typeof file === 'object' && 'content' in file;
  const { content, name, mediaType, ...rest } = isDescribed ? file : { content: file };
  const own = content as { name?: unknown; type?: unknown };
  return {
    ...rest,
    content,
    name: name ?? (content instanceof Blob && typeof own.name === 'string' ? own.name : 'file'),
    mediaType: mediaType ?? ((content instanceof Blob && content.type) || 'application/octet-stream'),
  };
}

/** As browsers write it into a form. */
function quoted(name: string): string {
  return name.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}

function isBytes(content: unknown): content is Bytes {
  return content instanceof Blob || content instanceof Uint8Array;
}

function sizeOf(bytes: Bytes): number {
  return bytes instanceof Blob ? bytes.size : bytes.byteLength;
}

async function* chunksOf(content: Bytes | Stream): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) return yield* slicesOf(content);
  const stream: Stream = content instanceof Blob ? content.stream() : content;
  if (!(stream instanceof ReadableStream)) return yield* stream;
  // Not every browser can iterate one.
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** In pieces, so that progress is told between them. */
function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const most = 64 * 1024;
  for (let from = 0; from < bytes.byteLength; from += most) yield bytes.subarray(from, from + most);
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  tell: (sentBytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of chunks) {
    yield chunk;
    sent += chunk.byteLength;
    tell(sent);
  }
}

async function* inOrder(
  head: Uint8Array,
  middle: AsyncIterable<Uint8Array>,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield head;
  yield* middle;
  yield tail;
}

/** Reads a chunk only when the one before was taken. */
function toReadable(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

interface PageRequest {
  upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  responseType: string;
  response: ArrayBuffer;
  status: number;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob): void;
  abort(): void;
}

const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest?: new () => PageRequest };

function hasXmlHttpRequest(): boolean {
  return XMLHttpRequest !== undefined;
}

function sendFromPage(
  url: string,
  { request, body, onProgress }: { request: RequestInit; body: Blob; onProgress: Listener },
): Promise<Response> {
  const sending = new (XMLHttpRequest as new () => PageRequest)();
  return new Promise((resolve, reject) => {
    sending.open('POST', url);
    sending.responseType = 'arraybuffer';
    for (const [name, value] of new Headers(request.headers)) sending.setRequestHeader(name, value);
    sending.upload.onprogress = ({ loaded, total }) => onProgress({ sentBytes: loaded, totalBytes: total });
    sending.onload = () => {
      const lines = sending.getAllResponseHeaders().trim().split(/\r\n/);
      const headers = lines.map((line) => line.split(/:\s*(.*)/s, 2) as [string, string]);
      const { status, response } = sending;
      resolve(new Response(status === 204 ? null : response, { status, headers }));
    };
    sending.onerror = () => reject(new TypeError('The request failed.'));
    sending.onabort = () => reject(request.signal?.reason);
    request.signal?.addEventListener('abort', () => sending.abort(), { once: true });
    sending.send(body);
  });
}
