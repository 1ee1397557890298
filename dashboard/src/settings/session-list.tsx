/** The user's sessions, and a button that ends them. */

import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';

type Session = Schemas['Session'];

const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => call<Session[]>('GET', '/platform/sessions'),
});

export function SessionList() {
  const client = useQueryClient();
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const ending = useMutation({
    mutationFn: (id: string) => call('DELETE', `/platform/sessions/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const endingAll = useMutation({
    mutationFn: () => call('DELETE', '/platform/sessions'),
    onSuccess: () => window.location.assign('/sign-in'),
  });
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!sessions) return <LoadingRows rows={2} />;
  return (
    <Stack gap="sm" maw={640}>
      {sessions.map((session) => (
        <Paper key={session.id} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap">
            <div>
              <Text size="sm" fw={550}>
                {browserOf(session.userAgent)}{' '}
                {session.current && (
                  <Badge size="xs" variant="light" radius="sm" tt="none">
                    current
                  </Badge>
                )}
              </Text>
              <Text size="xs" c="dimmed">
                {session.address ?? 'unknown address'}, signed in <Time at={session.createdAt} />, last seen{' '}
                <Time at={session.lastSeenAt} />
              </Text>
            </div>
            {!session.current && (
              <Button size="xs" variant="default" flex="none" onClick={() => ending.mutate(session.id)}>
                End
              </Button>
            )}
          </Group>
        </Paper>
      ))}
      <Button
        color="red"
        variant="light"
        onClick={() => endingAll.mutate()}
        loading={endingAll.isPending}
        style={{ alignSelf: 'flex-start' }}
      >
        Sign out everywhere
      </Button>
    </Stack>
  );
}

const browsers = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'];

function browserOf(userAgent: string | null): string {
  const found = browsers.find((name) => userAgent?.includes(name));
  if (!found) return userAgent?.slice(0, 40) ?? 'Unknown browser';
  const system = /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(userAgent ?? '')?.[0];
  const name = found === 'Edg' ? 'Edge' : found === 'OPR' ? 'Opera' : found;
  return system ? `${name} on ${system}` : name;
}
