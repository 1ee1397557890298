/** Sends past events again: counts them first, then shows the progress. */
import { Alert, Button, Group, Modal, Progress, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../api/call.ts';
import { FormFailure } from '../frame/form.tsx';
import { MomentInput } from '../frame/moment-input.tsx';
import { type Endpoint, type Replay, replayQuery } from './endpoint.ts';

const dayMs = 24 * 60 * 60 * 1000;

export function ReplayForm({ endpoint, close }: { endpoint: Endpoint; close(): void }) {
  const [from, setFrom] = useState(() => momentOf(Date.now() - dayMs));
  const [to, setTo] = useState(() => momentOf(Date.now() + 60_000));
  const [status, setStatus] = useState<string | null>('failed');
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const path = `/platform/webhooks/endpoints/${endpoint.id}/replay`;
  const range = { from, to, ...(status !== null && { status }) };
  const valid = from !== '' && to !== '' && from < to;
  const counting = useQuery({
    queryKey: ['webhooks', 'replay-count', endpoint.id, range],
    queryFn: () => call<{ count: number }>('POST', path, { body: { ...range, dryRun: true } }),
    enabled: valid,
    staleTime: 0,
  });
  const starting = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call<Replay>('POST', path, { body: range, headers: { 'idempotency-key': idempotencyKey } }),
  });
  const count = counting.data?.count;
  return (
    <Modal
      opened
      onClose={close}
      title="Send past events again"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {starting.data ? (
        <Running id={starting.data.id} close={close} />
      ) : (
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <MomentInput label="From" value={from} change={setFrom} />
            <MomentInput label="Until" value={to} change={setTo} />
          </SimpleGrid>
          <Select
            label="Status of the last delivery"
            placeholder="any"
            clearable
            data={['failed', 'skipped', 'succeeded']}
            value={status}
            onChange={setStatus}
          />
          <Text size="sm" role="status">
            {!valid
              ? 'The end must be after the start.'
              : count === undefined
                ? 'Counting…'
                : `${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'} would be sent.`}
          </Text>
          {endpoint.status === 'disabled' && (
            <Alert color="yellow">The endpoint is disabled: the replay waits until it is enabled.</Alert>
          )}
          <FormFailure error={starting.error ?? counting.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              onClick={() => starting.mutate()}
              loading={starting.isPending}
              disabled={!valid || count === undefined || count === 0}
            >
              Send {count === undefined ? '' : count.toLocaleString('en')} again
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function Running({ id, close }: { id: string; close(): void }) {
  const client = useQueryClient();
  const { data: replay } = useQuery(replayQuery(id));
  const ended = replay ? replay.succeeded + replay.failed + replay.skipped : 0;
  const running = replay === undefined || replay.status === 'running' || replay.status === 'paused';
  const cancelling = useMutation({
    mutationFn: () => call('DELETE', `/platform/webhooks/replays/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks', 'replay', id] }),
  });
  useEffect(() => {
    if (!running) void client.invalidateQueries({ queryKey: ['deliveries'] });
  }, [client, running]);
  return (
    <Stack gap="sm">
      <Progress
        value={replay && replay.total > 0 ? (100 * ended) / replay.total : 0}
        animated={running}
        size="lg"
        aria-label="Progress of the replay"
      />
      <Text size="sm" role="status">
        {replay
          ? `${ended.toLocaleString('en')} of ${replay.total.toLocaleString('en')} finished: ${replay.succeeded} delivered, ${replay.failed} failed, ${replay.skipped} skipped. The replay is ${replay.status}.`
          : 'Starting…'}
      </Text>
      <Text size="xs" c="dimmed">
        It continues if you close this, and survives a restart of the service.
      </Text>
      <Group justify="flex-end" gap="xs">
        {running && (
          <Button variant="default" onClick={() => cancelling.mutate()}>
            Stop replay
          </Button>
        )}
        <Button onClick={close}>Close</Button>
      </Group>
    </Stack>
  );
}

/** Rounded down to the second. */
function momentOf(time: number): string {
  return new Date(Math.floor(time / 1000) * 1000).toISOString();
}
