/** A thread of documents that misbehave on demand; they are plain text. */
import { Readable } from 'node:stream';
import type { Drawing, Parts } from './drawing.ts';
import { serveDrawings } from './serve-drawings.ts';

function drawing<Item>(draw: (write: (text: string) => void) => Parts<Item>): Drawing<Item> {
  const stream = new Readable({ read() {} });
  return { stream, parts: draw((text) => stream.push(text)) };
}

serveDrawings({
  text: (text: string) =>
    drawing(function* (write) {
      yield 'part';
      write(text);
    }),
  list: (title: string) =>
    drawing<string>(function* (write) {
      write(title);
      for (let item = yield 'item'; item !== undefined; item = yield 'item') write(` ${item}`);
      write('.');
    }),
  faulty: () =>
    drawing(function* () {
      yield 'part';
      throw new TypeError('it cannot be drawn');
    }),
  endless: () =>
    drawing(function* () {
      yield 'part';
      for (;;);
    }),
  large: () =>
    drawing(function* () {
      yield 'part';
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, place) => place + kept.length));
    }),
});
