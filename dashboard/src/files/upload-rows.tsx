/** The files of an upload, each with its progress and its actions. */
import {
  ActionIcon,
  Anchor,
  Box,
  Button,
  Group,
  Paper,
  Progress,
  Stack,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { Icon, type IconName } from '../frame/icons.tsx';
import { formatBytes } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import type { Upload, UploadQueue } from './upload-queue.ts';

export interface UploadRowsProps {
  uploads: readonly Upload[];
  queue: UploadQueue;
  retry(id: string): void;
}

/** A row has a field and buttons: hundreds of rows would keep the browser busy for seconds. */
const rowsAtFirst = 40;

export function UploadRows({ uploads, queue, retry }: UploadRowsProps) {
  const [most, setMost] = useState(rowsAtFirst);
  // A stable function, so that a row renders again only when its own file has changed.
  const retryNow = useRef(retry);
  useEffect(() => {
    retryNow.current = retry;
  }, [retry]);
  const again = useCallback((id: string) => retryNow.current(id), []);
  const many = uploads.length > rowsAtFirst;
  const open = uploads.filter(({ state }) => state !== 'done');
  // With many files, lists only the unfinished ones: each accepted file makes room for the next.
  const listed = many && open.length > 0 ? open : uploads;
  return (
    <>
      {many && <Sum uploads={uploads} />}
      <Stack component="ul" gap="xs" p={0} m={0} aria-label="Files to send" style={{ listStyle: 'none' }}>
        {listed.slice(0, most).map((upload) => (
          <Paper component="li" key={upload.id} withBorder px="sm" py="xs">
            <UploadRow upload={upload} queue={queue} retry={again} />
          </Paper>
        ))}
      </Stack>
      {listed.length > most && (
        <Button variant="default" size="xs" onClick={() => setMost(most + rowsAtFirst)}>
          Show more of {listed.length.toLocaleString('en')} files
        </Button>
      )}
    </>
  );
}

function Sum({ uploads }: { uploads: readonly Upload[] }) {
  const count = (...states: Upload['state'][]) =>
    uploads.filter(({ state }) => states.includes(state)).length;
  const done = count('done');
  const failed = count('failed', 'cancelled');
  return (
    <Box>
      <Progress size="sm" value={(100 * done) / uploads.length} aria-label="Files accepted" />
      <Text size="xs" c="dimmed" mt={4} role="status">
        {`${done.toLocaleString('en')} of ${uploads.length.toLocaleString('en')} files accepted`}
        {failed > 0 && `, ${failed.toLocaleString('en')} not sent`}
      </Text>
    </Box>
  );
}

const UploadRow = memo(function UploadRow({
  upload,
  queue,
  retry,
}: Pick<UploadRowsProps, 'queue' | 'retry'> & { upload: Upload }) {
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
          <Act icon="bin" label={`Remove ${name}`} act={() => queue.remove(id)} />
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
});

function FinalName({ upload: { name, made } }: { upload: Upload }) {
  return made ? (
    <Anchor
      component={Link}
      to={pathTo('/files/$fileId', made.id)}
      size="sm"
      fw={550}
      className="cut"
      display="block"
    >
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
      return `Hashing in this browser, ${part}`;
    case 'sending':
      return progress === 1 ? 'Sent. The service is storing it…' : `Sending, ${part}`;
    case 'done':
      return made && made.version > 1
        ? `Accepted as version ${made.version}.`
        : 'Accepted. It is anchored in the next batch.';
    case 'cancelled':
      return progress < 1
        ? 'Cancelled. Nothing was stored.'
        : 'Cancelled, but it may already have been accepted. Trying again creates no duplicate.';
    default:
      return '';
  }
}
