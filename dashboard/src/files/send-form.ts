/** Sends a form with a file and reports progress, which fetch cannot do. */
import { ApiError, apiUrl, refusal, workspaceHeaders } from '../api/call.ts';
import type { Progress } from './file-hash.ts';

export interface FormToSend {
  path: string;
  form: FormData;
  headers: Record<string, string>;
}

export function sendForm<T>({ path, form, headers }: FormToSend, { signal, tell }: Progress): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', apiUrl(path));
    request.responseType = 'json';
    const all = { accept: 'application/json', ...workspaceHeaders(), ...headers };
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => tell(total === 0 ? 0 : loaded / total);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response as T);
      else reject(refusal(request.status, request.response, request.getResponseHeader('retry-after')));
    };
    request.onerror = () =>
      reject(
        new ApiError(0, {
          message:
            'The connection was lost before the service responded. Try again: nothing is stored twice.',
          errorCode: 'unreachable',
        }),
      );
    request.onabort = () => reject(signal.reason ?? new DOMException('Cancelled', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    if (signal.aborted) reject(signal.reason);
    else request.send(form);
  });
}
