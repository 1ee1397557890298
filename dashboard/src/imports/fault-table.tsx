/** What is wrong in an input, with its lines: the first of them, because the report has all. */
import { Button, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { RunState } from './run.ts';

const shownAtFirst = 10;

export function FaultTable({ run: { faults, faultCount, job, phase } }: { run: RunState }) {
  const [all, setAll] = useState(false);
  if (faults.length === 0) return null;
  const isCut = !all && faults.length > shownAtFirst;
  const rest = faultCount - faults.length;
  return (
    <div>
      <Text size="sm" fw={550}>
        {faultCount === 1 ? '1 fault' : `${faultCount.toLocaleString('en')} faults`}
      </Text>
      <Table aria-label="Faults" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={job.noun === 'files' ? '40%' : 110}>
              {job.noun === 'files' ? 'File' : 'Line'}
            </Table.Th>
            <Table.Th>What is wrong</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {faults.slice(0, isCut ? shownAtFirst : faults.length).map(({ line, path, error }) => (
            <Table.Tr key={line}>
              <Table.Td valign="top" className="breaks">
                {path ?? line.toLocaleString('en')}
              </Table.Td>
              <Table.Td className="breaks">{error}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {isCut && (
        <Button variant="default" size="xs" mt="xs" onClick={() => setAll(true)}>
          Show {rest > 0 ? 'the first' : 'all'} {faults.length}
        </Button>
      )}
      {rest > 0 && !isCut && (
        <Text size="xs" c="dimmed" mt={6}>
          … and {rest.toLocaleString('en')} more{phase === 'ended' ? '. The report has all of them.' : ''}
        </Text>
      )}
    </div>
  );
}
