/** A list as a table: loading, failed, empty or full, with a button for more. Long lists render only visible rows. */
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
  /** Hidden on narrow screens. */
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

/** The estimate before a row was rendered; rows.css makes each row at least this high. */
const rowHeight = 49;
/** Below this length, rendering all rows is simpler and just as fast. */
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

/** A component of its own, so that the rest does not render again on scrolling. */
function RowsInSight<T>({ items, columns, keyOf, top }: RowsProps<T> & { top: number }) {
  const usual = useRef(rowHeight);
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: items.length,
    estimateSize: () => usual.current,
    overscan: 8,
    scrollMargin: top,
  });
  // With these columns, other rows are probably as high as the first one rendered; a wrong estimate moves the list on
  // scrolling.
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
  /** Index of a virtualised row. */
  index?: number;
  measure?: Ref<HTMLTableRowElement>;
}

/** Renders again only when its item changes. */
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

/** The distance from the top of the document. */
function useTopOf(box: React.RefObject<HTMLDivElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (box.current) setTop(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    // Content above may grow, or wrap in a narrower window.
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

/** Fetches when it becomes visible; the button is for users who do not scroll. */
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
