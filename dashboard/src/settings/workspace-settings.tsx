/** The workspaces of the user, and a form for a new one. */
import { Badge, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useMe } from '../api/session.ts';
import { chooseNextWorkspace } from '../api/workspace.ts';
import { FormFailure } from '../frame/form.tsx';
import { Code } from '../frame/values.tsx';
import { SecondFactorRule } from './second-factor-rule.tsx';

export function WorkspaceSettings() {
  const me = useMe();
  return (
    <Stack gap="sm" maw={640}>
      <Text size="sm" c="dimmed">
        Workspaces are separate: each has its own vaults, keys, members and webhooks.
      </Text>
      {me.workspaces.map((workspace) => (
        <Paper key={workspace.id} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <div>
              <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
                {workspace.name}{' '}
                {workspace.id === me.workspaceId && (
                  <Badge size="xs" variant="light" radius="sm" tt="none">
                    current
                  </Badge>
                )}
              </Text>
              <Code value={workspace.id} label="workspace id" whole />
            </div>
            <Text size="sm" c="dimmed">
              {workspace.role}
            </Text>
          </Group>
        </Paper>
      ))}
      {me.role === 'owner' && !me.lacksSecondFactor && <SecondFactorRule />}
      {me.mayCreateWorkspaces ? <WorkspaceForm /> : <WhoMakesWorkspaces />}
    </Stack>
  );
}

function WorkspaceForm() {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const creating = useMutation({
    meta: { shown: true },
    mutationFn: () => call<{ id: string }>('POST', '/platform/workspaces', { body: { name } }),
    onSuccess({ id }) {
      chooseNextWorkspace(id);
      client.clear();
      window.location.assign('/');
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creating.mutate();
      }}
    >
      <Group align="flex-end" gap="sm" mt="sm">
        <TextInput
          label="New workspace"
          placeholder="Name"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={creating.isPending}>
          Create workspace
        </Button>
      </Group>
      <FormFailure error={creating.error} />
    </form>
  );
}

function WhoMakesWorkspaces() {
  return (
    <Text size="sm" c="dimmed" mt="sm">
      Only operators may create workspaces: ask an owner or admin of the first workspace of this installation.
    </Text>
  );
}
