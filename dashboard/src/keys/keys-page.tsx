/** The API keys of the workspace. */
import { Badge, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import { Confirm } from '../frame/confirm.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Status, Time } from '../frame/values.tsx';
import { type ApiKey, keyList, keyState } from './api-key.ts';
import { KeyForm } from './key-form.tsx';

export function KeysPage() {
  const list = useList<ApiKey>(keyList);
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const create = (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New key
    </Button>
  );
  return (
    <>
      <PageHead
        title="API keys"
        about="For programs that use the API. A key belongs to this workspace."
        actions={create}
      />
      <DataTable
        list={list}
        label="API keys"
        columns={columns(setRevoking)}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="key" title="No API keys yet" action={create}>
            Programs authenticate with a key in the x-api-key header.
          </EmptyState>
        }
      />
      {opened && <KeyForm close={close} />}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          label="Revoke key"
          close={() => setRevoking(null)}
          act={async () => {
            await call('DELETE', `/platform/api-keys/${revoking.id}`);
            await client.invalidateQueries({ queryKey: ['keys'] });
          }}
        >
          Programs that use it are refused from the next request on. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

function columns(revoke: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      cell: ({ name, hint }) => (
        <>
          <Text fw={550} size="sm">
            {name}
          </Text>
          <Text c="dimmed" size="xs" className="mono">
            {hint}
          </Text>
        </>
      ),
    },
    { title: 'Scopes', cell: ({ scopes }) => <Scopes scopes={scopes} />, wide: true },
    { title: 'State', cell: (key) => <Status value={keyState(key)} />, width: 100 },
    { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />, width: 140, wide: true },
    {
      title: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
      width: 130,
      wide: true,
    },
    {
      title: 'Actions',
      width: 100,
      align: 'right',
      cell: (key) =>
        keyState(key) === 'active' && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            onClick={() => revoke(key)}
            aria-label={`Revoke ${key.name}`}
          >
            Revoke
          </Button>
        ),
    },
  ];
}

function Scopes({ scopes }: { scopes: string[] }) {
  if (scopes.length === 0)
    return (
      <Badge variant="light" tt="none" radius="sm">
        everything
      </Badge>
    );
  return (
    <Group gap={4}>
      {scopes.slice(0, 3).map((scope) => (
        <Badge key={scope} variant="default" tt="none" radius="sm" fw={450}>
          {scope}
        </Badge>
      ))}
      {scopes.length > 3 && (
        <Text size="xs" c="dimmed" title={scopes.join(', ')}>
          and {scopes.length - 3} more
        </Text>
      )}
    </Group>
  );
}
