/** The first rows of an input as the records that they will be. */
import { Alert, Code, Input, Paper, SimpleGrid, Text } from '@mantine/core';
import { useDeferredValue, useMemo } from 'react';
import { InputError } from '../../../src/bulk/split-rows.ts';
import { isGood, type Row } from '../../../src/bulk/units.ts';
import { Icon } from '../frame/icons.tsx';
import { inputOf, type RecordDraft } from './record-draft.ts';
import { preview } from './sample.ts';

const shownChars = 2_000;

export function RowPreview({ draft }: { draft: RecordDraft }) {
  // Typing goes first.
  const settled = useDeferredValue(draft);
  const read = useMemo(() => recordsOf(settled), [settled]);
  if (typeof read === 'string')
    return (
      <Alert color="red" icon={<Icon name="warning" />} role="alert" py="xs">
        <span className="breaks">{read}</span>
      </Alert>
    );
  if (read.length === 0) return null;
  return (
    <div>
      <Input.Label labelElement="div" mb={4}>
        The first {read.length === 1 ? 'record' : `${read.length} records`}
      </Input.Label>
      <SimpleGrid cols={{ base: 1, sm: Math.min(read.length, 3) }} spacing="sm">
        {read.map((row) => (
          <RowCard key={row.line} row={row} />
        ))}
      </SimpleGrid>
    </div>
  );
}

/** A sentence: it cannot be read. */
function recordsOf({ sample, ...draft }: RecordDraft): Row[] | string {
  try {
    return preview(sample, inputOf({ sample, ...draft }));
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

function RowCard({ row }: { row: Row }) {
  return (
    <Paper withBorder p="xs" miw={0}>
      <Text size="xs" c="dimmed" mb={4}>
        Line {row.line}
      </Text>
      {isGood(row) ? (
        <RecordText json={row.json} />
      ) : (
        <Text size="sm" c={'fault' in row ? 'red' : 'dimmed'} className="breaks">
          {'fault' in row ? row.fault : row.skipped}
        </Text>
      )}
    </Paper>
  );
}

function RecordText({ json }: { json: string }) {
  const { data, externalId } = JSON.parse(json) as { data: unknown; externalId?: string };
  const text = JSON.stringify(data, null, 2);
  return (
    <>
      {externalId !== undefined && (
        <Text size="xs" mb={4} className="breaks">
          External id: <b>{externalId}</b>
        </Text>
      )}
      <Code block p="xs" mah={260} style={{ overflow: 'auto' }}>
        {text.length > shownChars ? `${text.slice(0, shownChars)}…` : text}
      </Code>
    </>
  );
}
