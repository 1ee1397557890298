/** Lists, page by page or item by item. */
import type { CallOptions } from './operation-types.ts';
import type { Answer, Arguments } from './transport.ts';

export interface Page<Data> {
  data: Data;
  /** Null on the last page. */
  nextCursor: string | null;
  response: Response;
}

/** Nothing is asked for before it is iterated. */
export interface List<Item> extends AsyncIterable<Item> {
  /** One page: the first, or that of the argument `cursor`. */
  page(): Promise<Page<Item[]>>;
  /** This page and those after it. */
  pages(): AsyncGenerator<Page<Item[]>, void>;
}

export type Ask = (args: Arguments, options: CallOptions) => Promise<Answer>;

export function createList<Item>(ask: Ask, args: Arguments = {}, options: CallOptions = {}): List<Item> {
  const pages = () => pagesOf<Item[]>(ask, args, options);
  return {
    page: () => pageOf<Item[]>(ask, args, options),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}

export async function* pagesOf<Data>(
  ask: Ask,
  args: Arguments,
  options: CallOptions,
): AsyncGenerator<Page<Data>, void> {
  let asked = args;
  while (true) {
    const page = await pageOf<Data>(ask, asked, options);
    yield page;
    // The feed of events has a next cursor also at its end, which is the one that was sent.
    if (page.nextCursor === null || page.nextCursor === asked.cursor) return;
    asked = { ...args, cursor: page.nextCursor };
  }
}

async function pageOf<Data>(ask: Ask, args: Arguments, options: CallOptions): Promise<Page<Data>> {
  const { data, nextCursor, response } = await ask(args, options);
  return { data: data as Data, nextCursor, response };
}
