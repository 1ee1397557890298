/** A list as a table: loading, failing, empty and full, with a button for more. Long lists render what is in sight. */
import { Box, Button, Center, Table, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
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
const virtualFrom = 200;

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
  const virtual = items.length > virtualFrom;
  const virtualizer = useVirtualizer({
    count: virtual ? items.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const seen = virtualizer.getVirtualItems();
  const shown = virtual
    ? seen.flatMap(({ index }) => (items[index] === undefined ? [] : [items[index]]))
    : items;
  const above = seen[0]?.start ?? 0;
  const below = virtual ? virtualizer.getTotalSize() - (seen.at(-1)?.end ?? 0) : 0;
  return (
    <Box
      ref={box}
      style={{ overflow: 'auto', ...(virtual && { maxHeight: '70vh' }) }}
      {...(virtual && { tabIndex: 0, role: 'region', 'aria-label': label })}
    >
      <Table aria-label={label} stickyHeader={virtual}>
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
          {shown.map((item) => (
            <Table.Tr key={keyOf(item)}>
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

function Space({ height, columns }: { height: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height, padding: 0 }} />
    </tr>
  );
}

/** Fetches when it comes into sight; the button is for those who do not scroll. */
export function More({ more, loading }: { more(): void; loading: boolean }) {
  const { ref, entry } = useIntersection({ rootMargin: '200px' });
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
