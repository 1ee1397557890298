/** The columns of a CSV: what each is called in the data, and of which type it is. */
import { Button, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import type { ColumnChoice } from './columns.ts';

export interface ColumnTableProps {
  columns: ColumnChoice[];
  /** The first values. */
  values: string[];
  change(columns: ColumnChoice[]): void;
}

const types: { value: ColumnChoice['type']; label: string }[] = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
  { value: 'json', label: 'JSON' },
  { value: 'out', label: 'Leave out' },
];

/** Each row has two fields: hundreds of rows would keep the browser busy for seconds. */
const rowsAtFirst = 40;

export function ColumnTable({ columns, values, change }: ColumnTableProps) {
  const [most, setMost] = useState(rowsAtFirst);
  // A stable function, so that a row renders again only when its own column has changed.
  const now = useRef({ columns, change });
  useEffect(() => {
    now.current = { columns, change };
  }, [columns, change]);
  const put = useCallback((at: number, choice: ColumnChoice) => {
    now.current.change(now.current.columns.map((one, place) => (place === at ? choice : one)));
  }, []);
  return (
    <>
      <Table aria-label="Columns" className="stacked" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column</Table.Th>
            <Table.Th w="36%">Name in the data</Table.Th>
            <Table.Th w={160}>Type</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {columns.slice(0, most).map((choice, at) => (
            // Names may occur twice, and their order does not change.
            <ColumnRow key={at} at={at} choice={choice} value={values[at] ?? ''} put={put} />
          ))}
        </Table.Tbody>
      </Table>
      {columns.length > most && (
        <Button variant="default" size="xs" onClick={() => setMost(most + 5 * rowsAtFirst)}>
          Show more of {columns.length.toLocaleString('en')} columns
        </Button>
      )}
    </>
  );
}

const ColumnRow = memo(function ColumnRow({
  at,
  choice,
  value,
  put,
}: {
  at: number;
  choice: ColumnChoice;
  value: string;
  put(at: number, choice: ColumnChoice): void;
}) {
  const { column, target, type } = choice;
  const name = column.trim() === '' ? `column ${at + 1}` : column;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={550} className="breaks" lineClamp={2}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" className="one-line">
          {value === '' ? 'empty in the first row' : value.slice(0, 200)}
        </Text>
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          aria-label={`Name in the data of ${name}`}
          value={target}
          placeholder={column}
          disabled={type === 'out'}
          spellCheck={false}
          onChange={(event) => put(at, { ...choice, target: event.currentTarget.value })}
        />
      </Table.Td>
      <Table.Td>
        <NativeSelect
          size="xs"
          aria-label={`Type of ${name}`}
          data={types}
          value={type}
          onChange={(event) =>
            put(at, { ...choice, type: event.currentTarget.value as ColumnChoice['type'] })
          }
        />
      </Table.Td>
    </Table.Tr>
  );
});
