/** A document that is drawn part by part, so that whoever has it drawn can do something else in between. */
import type { Readable } from 'node:stream';

export interface Drawing<Item = never> {
  /** The PDF, as far as it is drawn. */
  stream: Readable;
  /**
   * Draws up to the end of a part; and where it wants an item it is given the next one, or undefined after the last. A
   * part is short: the thread that draws does nothing else meanwhile.
   */
  parts: Parts<Item>;
}

export type Parts<Item = never> = Generator<'part' | 'item', void, Item | undefined>;
