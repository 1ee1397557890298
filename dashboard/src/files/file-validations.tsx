/** Validations of a file: drop it to start one, and the earlier ones. */
import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Status, Time } from '../frame/values.tsx';
import { type FileValidation, type FileVersion, filesPath, validationList } from './file.ts';
import { ProofButton } from './proof-button.tsx';
import { ValidatePanel } from './validate-panel.tsx';

const columns: Column<FileValidation>[] = [
  {
    title: 'Result',
    cell: (validation) => (
      <>
        <Status value={validation.result ?? validation.status} />
        <Text size="xs" c="dimmed" mt={2}>
          {failureOf(validation)}
        </Text>
        <Text size="xs" c="dimmed" component="div" hiddenFrom="sm">
          {validation.validatedAt !== null && <Time at={validation.validatedAt} />}
        </Text>
      </>
    ),
  },
  { title: 'Version', cell: ({ version }) => version, width: 90, align: 'right' },
  {
    title: 'Validated',
    cell: ({ validatedAt }) => (validatedAt === null ? 'soon' : <Time at={validatedAt} />),
    width: 150,
    align: 'right',
    wide: true,
  },
  {
    title: 'Proof',
    cell: ({ id, fileId, status }) => (
      <ProofButton
        path={`${filesPath}/${fileId}/validations/${id}/proof`}
        fileName={`proof-${id}.json`}
        label="Download the proof of this validation"
        disabled={status === 'pending'}
      />
    ),
    width: 70,
    align: 'right',
  },
];

export function FileValidations({ file }: { file: FileVersion }) {
  const mayWrite = useMayWrite();
  const list = useList<FileValidation>(validationList(file.id));
  return (
    <Stack gap="lg">
      {mayWrite && <ValidatePanel file={file} />}
      <section>
        <Title order={2} size="h4" mb="xs">
          Validations so far
        </Title>
        <DataTable
          list={list}
          label="Validations"
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            <EmptyState icon="verify" title="Not validated yet">
              {mayWrite ? (
                'Drop a copy of the file above to see whether it is the one that was anchored.'
              ) : (
                <>
                  Anyone can check a copy{' '}
                  <Anchor href="/verify" size="sm" underline="always">
                    on the public verification page
                  </Anchor>
                  , with the proof of this file.
                </>
              )}
            </EmptyState>
          }
        />
      </section>
    </Stack>
  );
}

function failureOf({ result, integrity, authenticity, ownership }: FileValidation): string {
  if (result === null) return 'The result is pending';
  const failed = [
    !integrity && 'integrity',
    !authenticity && 'authenticity',
    !ownership && 'ownership',
  ].filter((name) => name !== false);
  return failed.length === 0
    ? 'Integrity, authenticity and ownership verified'
    : `Failed: ${failed.join(', ')}`;
}
