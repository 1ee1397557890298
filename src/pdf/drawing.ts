/** A document that is drawn part by part, so that the caller can do other work in between. */
import type { Readable } from 'node:stream';

export interface Drawing<Item = never> {
  /** The PDF, as far as it has been drawn. */
  stream: Readable;
  /**
   * Draws up to the end of a part. When it yields `item` it expects the next item, or undefined after the last. Parts are
   * short, as the drawing thread does nothing else meanwhile.
   */
  parts: Parts<Item>;
}

export type Parts<Item = never> = Generator<'part' | 'item', void, Item | undefined>;
