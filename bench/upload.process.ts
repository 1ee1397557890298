/** Sends the uploads; see upload.ts. No two files are the same, or they would be stored once. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { answerQuestions } from './child.ts';
import type { UploadLoad, UploadResult } from './upload.ts';

const boundary = 'holdfast-bench-boundary';
const pieceBytes = 256 * 1024;
const piece = randomBytes(pieceBytes);

answerQuestions<UploadLoad, UploadResult>(async (load) => {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const began = performance.now();
  let left = load.files;
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      while (left > 0) {
        left -= 1;
        await upload(load, agent);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  agent.destroy();
  return { seconds, mbPerSecond: (load.files * load.fileBytes) / 1e6 / seconds };
});

async function upload({ url, path, headers, fields, fileBytes }: UploadLoad, agent: Agent): Promise<void> {
  const head = [
    ...Object.entries(fields).map(
      ([name, value]) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="bench.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  ].join('');
  const tail = `\r\n--${boundary}--\r\n`;
  const { promise: answered, resolve, reject } = Promise.withResolvers<void>();
  const sending = request(url + path, {
    method: 'POST',
    agent,
    headers: {
      ...headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + fileBytes + tail.length,
    },
  });
  sending.on('error', reject);
  sending.on('response', (answer) => {
    text(answer).then((body) => {
      if ((answer.statusCode ?? 500) < 300) resolve();
      else reject(new Error(`an upload was answered ${answer.statusCode}: ${body.slice(0, 300)}`));
    }, reject);
  });
  await Promise.all([pipeline(Readable.from(parts(head, fileBytes, tail)), sending), answered]);
}

function* parts(head: string, fileBytes: number, tail: string) {
  yield Buffer.from(head);
  // The first bytes make the file another one.
  const first = randomBytes(Math.min(32, fileBytes));
  yield first;
  for (let left = fileBytes - first.length; left > 0; left -= pieceBytes) {
    yield left >= pieceBytes ? piece : piece.subarray(0, left);
  }
  yield Buffer.from(tail);
}
