/** A list as a table: loading, failing, empty and full, with a button for more. Long lists render what is in sight. */
import { Box, Button, Center, Table, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { List } from '../api/lists.ts';
import { FailureState, LoadingRows } from './states.tsx';

export interface Column<T> {
  title: string;
  cell(item: T): ReactNode;
  width?: number | string;
  /** Left out on narrow screens. */
  wide?: boolean;
  align?: 'right';
}

export interface DataTableProps<T> {
  list: List<T>;
  label: string;
  columns: Column<T>[];
  keyOf(item: T): string;
  empty: ReactNode;
}

const rowHeight = 49;
/** Below this, rendering all is simpler and as fast. */
const virtualFrom = 50;

export function DataTable<T>({ list, label, columns, keyOf, empty }: DataTableProps<T>) {
  const { items, error, more, loadingMore, again } = list;
  if (error && !items) return <FailureState error={error} again={again} />;
  if (!items) return <LoadingRows />;
  if (items.length === 0) return empty;
  return (
    <>
      <Rows items={items} label={label} columns={columns} keyOf={keyOf} />
      {more ? (
        <More more={more} loading={loadingMore} />
      ) : (
        <Text c="dimmed" size="xs" ta="center" mt="md">
          {items.length === 1 ? '1 entry' : `${items.length.toLocaleString('en')} entries`}
        </Text>
      )}
    </>
  );
}

function Rows<T>({
  items,
  label,
  columns,
  keyOf,
}: Pick<DataTableProps<T>, 'label' | 'columns' | 'keyOf'> & { items: T[] }) {
  const box = useRef<HTMLDivElement>(null);
  const top = useTopOf(box);
  const virtual = items.length > virtualFrom;
  const virtualizer = useWindowVirtualizer({
    count: virtual ? items.length : 0,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
  });
  const seen = virtualizer.getVirtualItems();
  const shown = virtual
    ? seen.flatMap(({ index }) => (items[index] === undefined ? [] : [{ index, item: items[index] }]))
    : items.map((item, index) => ({ index, item }));
  const above = virtual ? (seen[0]?.start ?? top) - top : 0;
  const below = virtual ? virtualizer.getTotalSize() - ((seen.at(-1)?.end ?? top) - top) : 0;
  return (
    <Box ref={box} style={{ overflowX: 'auto' }}>
      <Table aria-label={label} {...(virtual && { 'aria-rowcount': items.length + 1 })}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, width, wide, align }) => (
              <Table.Th
                key={title}
                w={width}
                ta={align}
                {...(wide && { visibleFrom: 'sm' })}
                style={{ whiteSpace: 'nowrap' }}
              >
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {above > 0 && <Space height={above} columns={columns.length} />}
          {shown.map(({ index, item }) => (
            <Table.Tr
              key={keyOf(item)}
              {...(virtual && {
                'aria-rowindex': index + 2,
                'data-index': index,
                ref: virtualizer.measureElement,
              })}
            >
              {columns.map(({ title, cell, wide, align }) => (
                <Table.Td key={title} ta={align} {...(wide && { visibleFrom: 'sm' })}>
                  {cell(item)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
          {below > 0 && <Space height={below} columns={columns.length} />}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

/** How far below the top of the document it begins. */
function useTopOf(box: React.RefObject<HTMLDivElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (box.current) setTop(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
  });
  return top;
}

function Space({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

/** Fetches when it comes into sight; the button is for those who do not scroll. */
export function More({ more, loading }: { more(): void; loading: boolean }) {
  const { ref, entry } = useIntersection({ rootMargin: '600px' });
  const near = entry?.isIntersecting ?? false;
  useEffect(() => {
    if (near && !loading) more();
  }, [near, loading, more]);
  return (
    <Center mt="md" ref={ref}>
      <Button variant="default" size="xs" onClick={more} loading={loading}>
        Load more
      </Button>
    </Center>
  );
}
