/** The work of the document thread: draws for a moment, returns the bytes so far, and waits for the next step. */
import { parentPort } from 'node:worker_threads';
import type { Drawing } from './drawing.ts';

export type Step = { id: number } & (
  | { begin: { kind: string; input: unknown } }
  /** With the requested item; undefined after the last one. */
  | { goOn: unknown }
  /** The document is no longer wanted; not answered. */
  | { drop: true }
);

export type StepAnswer = { id: number } & (
  | { bytes: Uint8Array<ArrayBuffer>; next: 'part' | 'item' | 'end' }
  | { error: unknown }
);

/** By the kind of an order: begins a document from its input, which was copied between threads. */
// biome-ignore lint/suspicious/noExplicitAny: each kind has an input and items of its own
export type DrawingKinds = Record<string, (input: any) => Drawing<any>>;

/** After this time another document gets its turn. */
const turnMs = 50;

export function serveDrawings(kinds: DrawingKinds): void {
  const open = new Map<number, Drawing<unknown>>();

  function begin({ kind, input }: { kind: string; input: unknown }): Drawing<unknown> {
    const start = kinds[kind];
    if (!start) throw new Error(`there are no documents of the kind ${kind}`);
    return start(input);
  }

  function draw(step: Exclude<Step, { drop: true }>): StepAnswer {
    const { id } = step;
    const until = performance.now() + turnMs;
    try {
      const drawing = 'begin' in step ? begin(step.begin) : open.get(id);
      if (!drawing) throw new Error('the document is not open');
      open.set(id, drawing);
      const { parts, stream } = drawing;
      let part = parts.next('goOn' in step ? step.goOn : undefined);
      while (!part.done && part.value === 'part' && performance.now() < until) part = parts.next();
      if (part.done) open.delete(id);
      return { id, bytes: drawnOf(stream), next: part.done ? 'end' : part.value };
    } catch (error) {
      open.delete(id);
      return { id, error };
    }
  }

  parentPort?.on('message', (step: Step) => {
    if ('drop' in step) {
      open.delete(step.id);
      return;
    }
    const answer = draw(step);
    parentPort?.postMessage(answer, 'bytes' in answer ? [answer.bytes.buffer] : []);
  });
}

/** In its own buffer, which is transferred. */
function drawnOf(stream: Drawing['stream']): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  for (let piece = stream.read(); piece !== null; piece = stream.read()) pieces.push(piece);
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
