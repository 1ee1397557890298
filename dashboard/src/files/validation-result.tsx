/** The result of a validation in words: integrity, authenticity and ownership separately. */
import { Alert, Group, List, Loader, Paper, Text, ThemeIcon } from '@mantine/core';
import { Icon } from '../frame/icons.tsx';
import { Time } from '../frame/values.tsx';
import type { FileValidation, FileVersion } from './file.ts';

export function ValidationResult({ validation, file }: { validation: FileValidation; file: FileVersion }) {
  const { result, version, integrity, authenticity, ownership, validatedAt } = validation;
  if (result === null) {
    return (
      <Alert color="blue" icon={<Loader size={18} />} role="status" title="Being validated">
        The result appears here. It waits for version {version} to be confirmed on the chain if it is not yet.
      </Alert>
    );
  }
  const valid = result === 'valid';
  return (
    <Paper
      withBorder
      p="md"
      role="status"
      style={{ borderInlineStart: `4px solid var(--mantine-color-${valid ? 'green' : 'red'}-6)` }}
    >
      <Group gap={8} mb="sm" c={valid ? 'green' : 'red'}>
        <Icon name={valid ? 'verify' : 'warning'} />
        <Text fw={600}>{valid ? 'Valid: this is the file' : 'Not valid'}</Text>
      </Group>
      <List spacing={6} size="sm" listStyleType="none" aria-label="Findings">
        <Finding
          name="Integrity"
          held={integrity}
          words={
            integrity
              ? `The file is bit for bit the one anchored as version ${version}.`
              : `The file is not the one anchored as version ${version}: its hash is another. ${
                  file.version > 1 ? 'It may be another version.' : 'It was changed, or is another file.'
                }`
          }
        />
        <Finding
          name="Authenticity"
          held={authenticity}
          words={
            authenticity
              ? 'The proof of that version holds against the chain.'
              : 'The proof of that version does not hold against the chain.'
          }
        />
        <Finding
          name="Ownership"
          held={ownership}
          words={
            ownership
              ? 'The vault owned the file at that time.'
              : 'The vault did not own the file at that time.'
          }
        />
      </List>
      <Text size="xs" c="dimmed" mt="xs">
        Validated <Time at={validatedAt} exact />. The result is anchored as well.
      </Text>
    </Paper>
  );
}

function Finding({ name, held, words }: { name: string; held: boolean | null; words: string }) {
  return (
    <List.Item>
      <Group gap={8} wrap="nowrap" align="flex-start">
        <ThemeIcon size={20} radius="xl" color={held ? 'green' : 'red'} variant="light" mt={1}>
          <Icon name={held ? 'done' : 'cross'} size={13} />
        </ThemeIcon>
        <span>
          <strong>{name}</strong> {held ? 'holds' : 'fails'}. {words}
        </span>
      </Group>
    </List.Item>
  );
}
