/** A file of JSON Lines that grows while a long command runs, and by which the command continues after an interruption. */
import { type FileHandle, open } from 'node:fs/promises';
import { OperatorError } from '../runtime/errors.ts';

export interface AppendLog {
  has(key: string): boolean;
  size: number;
  append(line: object): Promise<void>;
  close(): Promise<void>;
}

const readBytes = 256 * 1024;

/** A last line that a kill cut off is dropped. */
export async function openAppendLog<Line extends object>(
  path: string,
  keyOf: (line: Line) => string,
): Promise<AppendLog> {
  const file = await open(path, 'a+', 0o600);
  const keys = new Set<string>();
  let end = 0;
  let rest = Buffer.alloc(0);
  for await (const piece of piecesOf(file)) {
    rest = Buffer.concat([rest, piece]);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      keys.add(keyOf(parse<Line>(rest.toString('utf8', 0, at), path)));
      end += at + 1;
      rest = rest.subarray(at + 1);
    }
  }
  await file.truncate(end);
  let last: Promise<void> = Promise.resolve();
  return {
    has: (key) => keys.has(key),
    get size() {
      return keys.size;
    },
    append(line) {
      last = last.then(() => file.appendFile(`${JSON.stringify(line)}\n`));
      keys.add(keyOf(line as Line));
      return last;
    },
    close: () => last.finally(() => file.close()),
  };
}

function parse<Line>(text: string, path: string): Line {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OperatorError(`${path} is damaged. Choose another folder.`, { cause });
  }
}

async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(readBytes), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
