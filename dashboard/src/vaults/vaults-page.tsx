/** All vaults of the workspace. */
import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Code, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Vault, vaultList } from './vault.ts';
import { VaultForm } from './vault-form.tsx';

const columns: Column<Vault>[] = [
  {
    title: 'Name',
    cell: ({ name, address, description }) => (
      <Link to={pathTo('/vaults/$address', address)} className="row-link">
        <Text fw={550} size="sm" className="breaks">
          {name}
        </Text>
        {description !== '' && (
          <Text c="dimmed" size="xs" lineClamp={1}>
            {description}
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
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 110 },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 140, wide: true },
];

export function VaultsPage() {
  const list = useList<Vault>(vaultList);
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New vault
    </Button>
  );
  return (
    <>
      <PageHead
        title="Vaults"
        about="Wallets that own files, records and assets, and seal what is anchored."
        actions={create}
      />
      <DataTable
        list={list}
        label="Vaults"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="vault" title="No vaults yet" action={create}>
            Everything that is anchored belongs to a vault.{' '}
            {mayWrite ? 'Create one to get started.' : 'Members with write access can create one.'}
          </EmptyState>
        }
      />
      {opened && (
        <VaultForm
          close={close}
          onSaved={({ address }) => void navigate({ to: pathTo('/vaults/$address', address) })}
        />
      )}
    </>
  );
}
