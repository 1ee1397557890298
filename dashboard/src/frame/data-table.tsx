/** A list as a table: loading, failing, empty and full, with a button for more. Long lists render what is in sight. */
import { Box, Button, Center, Table, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, type Ref, useEffect, useLayoutEffect, useRef, useState } from 'react';
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

/** Before one was drawn; rows.css makes each at least so high. */
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

type RowsProps<T> = Pick<DataTableProps<T>, 'columns' | 'keyOf'> & { items: T[] };

function Rows<T>({ items, label, columns, keyOf }: RowsProps<T> & { label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const top = useTopOf(box);
  const virtual = items.length > virtualFrom;
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
        <tbody className="rows">
          {virtual ? (
            <RowsInSight items={items} columns={columns} keyOf={keyOf} top={top} />
          ) : (
            items.map((item) => <Row key={keyOf(item)} item={item} columns={columns} />)
          )}
        </tbody>
      </Table>
    </Box>
  );
}

/** Apart from the rest, which need not be looked at again as one scrolls. */
function RowsInSight<T>({ items, columns, keyOf, top }: RowsProps<T> & { top: number }) {
  const usual = useRef(rowHeight);
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: items.length,
    estimateSize: () => usual.current,
    overscan: 8,
    scrollMargin: top,
  });
  // The others are likely as high as the first one drawn, with these columns: what is not moves the list as one scrolls.
  useLayoutEffect(() => {
    const drawn = virtualizer.getVirtualItems()[0];
    const height = drawn && virtualizer.elementsCache.get(drawn.key)?.getBoundingClientRect().height;
    if (height === undefined || Math.abs(height - usual.current) < 1) return;
    usual.current = height;
    virtualizer.measure();
  }, [columns, virtualizer]);
  const seen = virtualizer.getVirtualItems();
  const above = (seen[0]?.start ?? top) - top;
  const below = virtualizer.getTotalSize() - ((seen.at(-1)?.end ?? top) - top);
  return (
    <>
      {above > 0 && <Space height={above} columns={columns.length} />}
      {seen.map(({ index }) => {
        const item = items[index];
        if (item === undefined) return null;
        const measure = virtualizer.measureElement;
        return <Row key={keyOf(item)} item={item} columns={columns} index={index} measure={measure} />;
      })}
      {below > 0 && <Space height={below} columns={columns.length} />}
    </>
  );
}

interface RowProps<T> {
  item: T;
  columns: Column<T>[];
  /** Of one that is not always drawn. */
  index?: number;
  measure?: Ref<HTMLTableRowElement>;
}

/** Drawn once, and again only when its item is another. */
const Row = memo(PlainRow) as typeof PlainRow;

function PlainRow<T>({ item, columns, index, measure }: RowProps<T>) {
  return (
    <tr ref={measure} {...(index !== undefined && { 'aria-rowindex': index + 2, 'data-index': index })}>
      {columns.map(({ title, cell, wide, align }) => (
        <td key={title} className={cellClass(wide, align)}>
          {cell(item)}
        </td>
      ))}
    </tr>
  );
}

function cellClass(wide: boolean | undefined, align: 'right' | undefined): string | undefined {
  if (!wide) return align;
  return align ? `${align} mantine-visible-from-sm` : 'mantine-visible-from-sm';
}

/** How far below the top of the document it begins. */
function useTopOf(box: React.RefObject<HTMLDivElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current) setTop(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    // What stands above may grow, or wrap in a narrower window.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [box]);
  return top;
}

function Space({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden className="space" style={{ height }}>
      <td colSpan={columns} />
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
