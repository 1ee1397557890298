/** All workers of the workspace. */
import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { LicenceScopes } from './licence-state.tsx';
import { type Worker, workerList } from './worker.ts';
import { WorkerForm } from './worker-form.tsx';

const columns: Column<Worker>[] = [
  {
    title: 'Name',
    cell: ({ name, address, keyHolder }) => (
      <Link to={pathTo('/workers/$address', address)} className="row-link">
        <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        {keyHolder !== 'service' && (
          <Text c="dimmed" size="xs">
            {keyHolder === 'worker' ? 'holds their own key' : 'signs with a passkey'}
          </Text>
        )}
      </Link>
    ),
  },
  {
    title: 'Address',
    cell: ({ address }) => <Code value={address} label="address" />,
    width: 220,
    wide: true,
  },
  { title: 'Licences', cell: ({ licences }) => <LicenceScopes licences={licences} /> },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 140, wide: true },
];

export function WorkersPage() {
  const list = useList<Worker>(workerList);
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New worker
    </Button>
  );
  return (
    <>
      <PageHead
        title="Workers"
        about="People who maintain assets and sign off their work."
        actions={create}
      />
      <DataTable
        list={list}
        label="Workers"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="worker" title="No workers yet" action={create}>
            Workers record work on an asset and sign it with their key.
          </EmptyState>
        }
      />
      {opened && (
        <WorkerForm
          close={close}
          onSaved={({ address }) => void navigate({ to: pathTo('/workers/$address', address) })}
        />
      )}
    </>
  );
}
