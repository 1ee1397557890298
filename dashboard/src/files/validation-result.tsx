/** The result of a validation in words: integrity, authenticity and ownership separately. */
import { Alert, Group, List, Loader, Paper, Text, ThemeIcon } from '@mantine/core';
import { Icon } from '../frame/icons.tsx';
import { Time } from '../frame/values.tsx';
import type { FileValidation, FileVersion } from './file.ts';

export function ValidationResult({ validation, file }: { validation: FileValidation; file: FileVersion }) {
  const { result, version, integrity, authenticity, ownership, validatedAt } = validation;
  if (result === null) {
    return (
      <Alert color="blue" icon={<Loader size={18} />} role="status" title="Validation in progress">
        The result appears here once version {version} is confirmed on the chain.
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
        <Text fw={600}>{valid ? 'Valid: this is the anchored file' : 'Not valid'}</Text>
      </Group>
      <List spacing={6} size="sm" listStyleType="none" aria-label="Findings">
        <Finding
          name="Integrity"
          held={integrity}
          words={
            integrity
              ? `The file is, byte for byte, the one anchored as version ${version}.`
              : `The file is not the one anchored as version ${version}: its hash is different. ${
                  file.version > 1 ? 'It may be another version.' : 'It was changed, or it is another file.'
                }`
          }
        />
        <Finding
          name="Authenticity"
          held={authenticity}
          words={
            authenticity
              ? 'The proof of that version was verified against the chain.'
              : 'The proof of that version failed verification against the chain.'
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
        Validated <Time at={validatedAt} exact />. The result is anchored too.
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
