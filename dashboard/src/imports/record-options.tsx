/** How a file of records is read: its format, its columns, and the external id. */
import { Alert, Group, Input, NativeSelect, SegmentedControl, Stack, Switch, TextInput } from '@mantine/core';
import type { InputFormat } from '../../../src/bulk/rows.ts';
import { Icon } from '../frame/icons.tsx';
import { ColumnTable } from './column-table.tsx';
import { pathOf } from './columns.ts';
import { draftFault, type RecordDraft, withDelimiter, withFormat } from './record-draft.ts';
import { RowPreview } from './row-preview.tsx';

export interface RecordOptionsProps {
  draft: RecordDraft;
  change(draft: RecordDraft): void;
}

const delimiters = [
  { value: ',', label: 'Comma' },
  { value: ';', label: 'Semicolon' },
  { value: '\t', label: 'Tab' },
  { value: '|', label: 'Vertical bar' },
];

export function RecordOptions({ draft, change }: RecordOptionsProps) {
  const { format, delimiter, columns, values, headFault } = draft;
  const fault = draftFault(draft);
  return (
    <Stack gap="md">
      <Group align="flex-end" gap="md">
        <div>
          <Input.Label labelElement="div" id="import-format" display="block">
            Format
          </Input.Label>
          <SegmentedControl
            aria-labelledby="import-format"
            data={[
              { value: 'csv', label: 'CSV' },
              { value: 'jsonl', label: 'JSON Lines' },
            ]}
            value={format}
            onChange={(value) => change(withFormat(draft, value as InputFormat))}
          />
        </div>
        {format === 'csv' && (
          <NativeSelect
            label="Delimiter"
            data={delimiters}
            value={delimiter}
            onChange={(event) => change(withDelimiter(draft, event.currentTarget.value))}
          />
        )}
        {format === 'csv' && headFault === null && <ExternalColumn draft={draft} change={change} />}
      </Group>
      {format === 'jsonl' && <LineOptions draft={draft} change={change} />}
      {format === 'csv' && headFault === null && (
        <ColumnTable
          columns={columns}
          values={values}
          change={(changed) => change({ ...draft, columns: changed })}
        />
      )}
      {fault === null ? (
        <RowPreview draft={draft} />
      ) : (
        <Alert color="red" icon={<Icon name="warning" />} role="alert" py="xs">
          <span className="breaks">{fault}</span>
        </Alert>
      )}
    </Stack>
  );
}

function ExternalColumn({ draft, change }: RecordOptionsProps) {
  const used = draft.columns.filter(({ type }) => type !== 'out');
  return (
    <NativeSelect
      label="External id"
      data={[
        { value: '', label: 'None' },
        ...used.map((choice) => ({ value: choice.column, label: pathOf(choice).join('.') })),
      ]}
      value={draft.externalId}
      onChange={(event) => change({ ...draft, externalId: event.currentTarget.value })}
    />
  );
}

function LineOptions({ draft, change }: RecordOptionsProps) {
  const { isData, externalId } = draft;
  return (
    <>
      <Switch
        label="Each line is the data itself"
        description={'Otherwise a line is {"data": {…}, "externalId": "…"}.'}
        checked={isData}
        onChange={(event) => change({ ...draft, isData: event.currentTarget.checked })}
      />
      {isData && (
        <TextInput
          label="External id"
          description="The member of the data that is also your own id for the record, such as note.id. Optional."
          maw={420}
          spellCheck={false}
          value={externalId}
          onChange={(event) => change({ ...draft, externalId: event.currentTarget.value })}
        />
      )}
    </>
  );
}
