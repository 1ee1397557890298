/** The files of an upload, each with how far it is and what can be done about it. */
import {
  ActionIcon,
  Anchor,
  Box,
  Group,
  Paper,
  Progress,
  Stack,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Icon, type IconName } from '../frame/icons.tsx';
import { formatBytes } from '../frame/values.tsx';
import { filePath } from '../links.ts';
import type { Upload, UploadQueue } from './upload-queue.ts';

export interface UploadRowsProps {
  uploads: readonly Upload[];
  queue: UploadQueue;
  retry(id: string): void;
}

export function UploadRows({ uploads, queue, retry }: UploadRowsProps) {
  return (
    <Stack component="ul" gap="xs" p={0} m={0} aria-label="Files to send" style={{ listStyle: 'none' }}>
      {uploads.map((upload) => (
        <Paper component="li" key={upload.id} withBorder px="sm" py="xs">
          <UploadRow upload={upload} queue={queue} retry={retry} />
        </Paper>
      ))}
    </Stack>
  );
}

function UploadRow({ upload, queue, retry }: Pick<UploadRowsProps, 'queue' | 'retry'> & { upload: Upload }) {
  const { id, name, state, progress, file, error } = upload;
  const underWay = state === 'hashing' || state === 'sending';
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="center">
        <Box flex={1} miw={0}>
          {state === 'done' || underWay ? (
            <FinalName upload={upload} />
          ) : (
            <TextInput
              size="xs"
              aria-label={`Name of ${file.name}`}
              required
              maxLength={255}
              value={name}
              onChange={(event) => queue.rename(id, event.currentTarget.value)}
            />
          )}
        </Box>
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {formatBytes(file.size)}
        </Text>
        {underWay && <Act icon="cross" label={`Cancel ${name}`} act={() => queue.cancel(id)} />}
        {(state === 'failed' || state === 'cancelled') && (
          <Act icon="again" label={`Try ${name} again`} act={() => retry(id)} />
        )}
        {!underWay && state !== 'done' && (
          <Act icon="bin" label={`Leave out ${name}`} act={() => queue.remove(id)} />
        )}
        {state === 'done' && (
          <Text c="green" component="span" display="inline-flex">
            <Icon name="done" size={16} />
          </Text>
        )}
      </Group>
      {underWay && (
        <Progress
          mt={8}
          size="sm"
          value={progress * 100}
          animated={progress === 1}
          striped={progress === 1}
          aria-label={`Progress of ${name}`}
        />
      )}
      <Text
        size="xs"
        mt={4}
        c={error ? 'red' : 'dimmed'}
        role={error ? 'alert' : 'status'}
        hidden={state === 'waiting'}
      >
        {error ? error.message : words(upload)}
      </Text>
    </>
  );
}

function FinalName({ upload: { name, made } }: { upload: Upload }) {
  return made ? (
    <Anchor component={Link} to={filePath(made.id)} size="sm" fw={550} className="cut" display="block">
      {name}
    </Anchor>
  ) : (
    <Text size="sm" fw={550} className="cut">
      {name}
    </Text>
  );
}

function Act({ icon, label, act }: { icon: IconName; label: string; act(): void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={act}>
        <Icon name={icon} size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function words({ state, progress, made }: Upload): string {
  const part = `${Math.floor(progress * 100)} %`;
  switch (state) {
    case 'hashing':
      return `Hashing here, ${part}`;
    case 'sending':
      return progress === 1 ? 'Sent. The service stores it…' : `Sending, ${part}`;
    case 'done':
      return made && made.version > 1
        ? `Accepted as version ${made.version}.`
        : 'Accepted. It is anchored with the next batch.';
    case 'cancelled':
      return progress < 1
        ? 'Cancelled. Nothing was stored.'
        : 'Cancelled, but it may have been accepted already. Trying again makes no second one.';
    default:
      return '';
  }
}
