/** Paginated lists; each page continues where the previous one ended. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { type CallOptions, callPage, type Page } from './call.ts';

export interface ListOptions {
  /** First element of the query key, so that everything about a noun can be refetched at once. */
  noun: string;
  path: string;
  query?: CallOptions['query'];
  limit?: number;
}

/** Interval for refetching changes that have no event, while the list is short. */
const pollMs = 2_000;
const polledPages = 3;

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
  /** Undefined until the first page has loaded. */
  items: T[] | undefined;
  error: Error | null;
  /** Absent on the last page. */
  more: (() => void) | undefined;
  loadingMore: boolean;
  again(): void;
}

/** `unsettled`: whether an item will change soon without an event. */
export function useList<T>(options: ListOptions, unsettled?: (item: T) => boolean): List<T> {
  const result = useInfiniteQuery({
    ...listQuery<T>(options),
    ...(unsettled && {
      refetchInterval: ({ state }: { state: { data?: { pages: { items: T[] }[] } | undefined } }) => {
        const pages = state.data?.pages ?? [];
        const waits = pages.length <= polledPages && pages.some(({ items }) => items.some(unsettled));
        return waits ? pollMs : false;
      },
    }),
  });
  return useAsList(result);
}

/** The pages as one list, which stays the same object until it changes. */
export function useAsList<T>({
  data,
  error,
  hasNextPage,
  fetchNextPage,
  isFetchingNextPage,
  refetch,
}: UseInfiniteQueryResult<InfiniteData<Page<T>>>): List<T> {
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return {
    items,
    error,
    more: hasNextPage ? more : undefined,
    loadingMore: isFetchingNextPage,
    again: () => void refetch(),
  };
}
