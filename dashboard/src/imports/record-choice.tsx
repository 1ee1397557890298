/** The file with the records: chosen or dropped. */
import { Text } from '@mantine/core';
import { DropArea } from '../files/drop-area.tsx';
import { formatBytes } from '../frame/values.tsx';
import type { RecordDraft } from './record-draft.ts';

export interface RecordChoiceProps {
  draft: RecordDraft | null;
  disabled: boolean;
  take(file: File): void;
}

export function RecordChoice({ draft, disabled, take }: RecordChoiceProps) {
  const label = draft === null ? 'Drop a CSV or JSON Lines file here, or choose it' : `${draft.file.name}`;
  const about =
    draft === null
      ? 'In UTF-8. The first row of a CSV names the columns. The file is read in this browser.'
      : `${formatBytes(draft.file.size)}. Drop or choose another file to replace it.`;
  return (
    <>
      <DropArea
        label={label}
        about={about}
        icon={draft === null ? 'upload' : 'file'}
        disabled={disabled}
        take={([file]) => file && take(file)}
      />
      {draft && /\.(xlsx?|ods|numbers)$/i.test(draft.file.name) && (
        <Text size="sm" c="red" role="alert">
          This is a spreadsheet. Save it as CSV in UTF-8, and choose that file.
        </Text>
      )}
    </>
  );
}
