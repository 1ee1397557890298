/** Sends forms like clients do: through fetch, or byte by byte over a separate socket. */
import { type ClientRequest, request } from 'node:http';
import type { Answer, Service } from '../service/service.ts';

export interface FormParts {
  /** In the order of sending. */
  parts: [name: string, value: string | File][];
  key?: string | null;
  headers?: Record<string, string>;
}

export async function sendForm(service: Service, path: string, form: FormParts): Promise<Answer> {
  const { parts, key = service.key, headers = {} } = form;
  const body = new FormData();
  for (const [name, value] of parts) body.append(name, value);
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { ...(key !== null && { 'x-api-key': key }), ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text ? JSON.parse(text) : null };
}

export interface OpenUpload {
  request: ClientRequest;
  /** Resolves when the service has received it, as far as the client can tell. */
  send(bytes: Buffer | string): Promise<void>;
  /** Sends the rest of the form; resolves with the answer. */
  finish(): Promise<{ status: number; text: string }>;
  /** Simulates the death of the client. */
  cut(): void;
}

/** A form whose file is still being sent. */
export function openUpload(
  service: Pick<Service, 'url' | 'key'>,
  path: string,
  { fields = {}, headers = {} }: { fields?: Record<string, string>; headers?: Record<string, string> } = {},
): OpenUpload {
  const boundary = 'between-the-parts';
  const answer = Promise.withResolvers<{ status: number; text: string }>();
  answer.promise.catch(() => {});
  const sending = request(
    service.url + path,
    {
      method: 'POST',
      // A connection of its own, which may be cut.
      agent: false,
      headers: {
        'x-api-key': service.key,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        ...headers,
      },
    },
    async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      answer.resolve({ status: response.statusCode ?? 0, text });
    },
  );
  sending.on('error', answer.reject);
  for (const [name, value] of Object.entries(fields)) {
    sending.write(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  sending.write(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="sent.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  return {
    request: sending,
    send: (bytes) => new Promise((resolve) => sending.write(bytes, () => resolve())),
    finish() {
      sending.end(`\r\n--${boundary}--\r\n`);
      return answer.promise;
    },
    cut: () => sending.destroy(),
  };
}
