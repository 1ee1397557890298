/** Lists that come page by page, and go on where the one before ended. */
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { type CallOptions, callPage } from './call.ts';

export interface ListOptions {
  /** First of the key, so that everything about a noun can be fetched anew at once. */
  noun: string;
  path: string;
  query?: CallOptions['query'];
  limit?: number;
}

export function listQuery<T>({ noun, path, query = {}, limit = 100 }: ListOptions) {
  return infiniteQueryOptions({
    queryKey: [noun, 'list', path, query, limit],
    queryFn: ({ pageParam, signal }) =>
      callPage<T>(path, { query: { ...query, limit, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export interface List<T> {
  /** Undefined until the first page is there. */
  items: T[] | undefined;
  error: Error | null;
  /** Absent on the last page. */
  more: (() => void) | undefined;
  loadingMore: boolean;
  again(): void;
}

export function useList<T>(options: ListOptions): List<T> {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    listQuery<T>(options),
  );
  return {
    items: data?.pages.flatMap(({ items }) => items),
    error,
    more: hasNextPage ? () => void fetchNextPage() : undefined,
    loadingMore: isFetchingNextPage,
    again: () => void refetch(),
  };
}
