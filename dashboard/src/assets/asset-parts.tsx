/** What an asset is installed in, what is installed in it, and where it was before. */
import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Asset, assetList, assetsPath, type Installation, usageText } from './asset.ts';
import { InstallForm, type InstallFormProps } from './install-form.tsx';

export function AssetParts({ asset }: { asset: Asset }) {
  const mayWrite = useMayWrite();
  const [form, setForm] = useState<InstallFormProps['what'] | null>(null);
  const { assetId, parentAssetId } = asset;
  const installed = parentAssetId !== null;
  return (
    <Stack gap="lg">
      <Alert variant="light" color="gray" icon={<Icon name="asset" />} title="Location">
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            {installed ? (
              <>
                Installed in{' '}
                <Anchor component={Link} to={pathTo('/assets/$assetId', parentAssetId)} size="sm">
                  {parentAssetId}
                </Anchor>
                .
              </>
            ) : (
              'It is not installed in another asset.'
            )}
          </Text>
          {mayWrite && (
            <Button
              size="xs"
              variant="default"
              onClick={() =>
                setForm(installed ? { remove: assetId, from: parentAssetId } : { install: assetId })
              }
            >
              {installed ? 'Remove' : 'Install in another asset'}
            </Button>
          )}
        </Group>
      </Alert>
      <section>
        <Group justify="space-between" mb="xs">
          <Title order={2} size="h4">
            Installed parts
          </Title>
          {mayWrite && (
            <Button
              size="xs"
              variant="default"
              onClick={() => setForm({ into: assetId })}
              leftSection={<Icon name="plus" size={14} />}
            >
              Install a part
            </Button>
          )}
        </Group>
        <Parts
          assetId={assetId}
          remove={mayWrite ? (part) => setForm({ remove: part, from: assetId }) : undefined}
        />
      </section>
      <section>
        <Title order={2} size="h4" mb="xs">
          Installations
        </Title>
        <Installations assetId={assetId} />
      </section>
      {form && <InstallForm what={form} close={() => setForm(null)} />}
    </Stack>
  );
}

function Parts({ assetId, remove }: { assetId: string; remove: ((part: string) => void) | undefined }) {
  const list = useList<Asset>({ noun: 'assets', path: assetsPath, query: { parentAssetId: assetId } });
  const columns: Column<Asset>[] = [
    {
      title: 'Part',
      cell: (part) => (
        <Link to={pathTo('/assets/$assetId', part.assetId)} className="row-link">
          <Text fw={550} size="sm">
            {part.name}
          </Text>
          <Text c="dimmed" size="xs" className="mono">
            {part.assetId}
          </Text>
        </Link>
      ),
    },
    { title: 'Serial number', cell: ({ serialNumber }) => serialNumber || '–', width: 180, wide: true },
    { title: 'Usage', cell: ({ usage }) => usageText(usage) || '–', width: 180, wide: true },
  ];
  if (remove) {
    columns.push({
      title: 'Actions',
      width: 110,
      align: 'right',
      cell: (part) => (
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`Remove ${part.name}`}
          onClick={() => remove(part.assetId)}
        >
          Remove
        </Button>
      ),
    });
  }
  return (
    <DataTable
      list={list}
      label="Installed parts"
      columns={columns}
      keyOf={({ assetId }) => assetId}
      empty={
        <Text c="dimmed" size="sm">
          No parts are installed.
        </Text>
      }
    />
  );
}

const installationColumns: Column<Installation>[] = [
  {
    title: 'In',
    cell: ({ parentAssetId }) => (
      <Anchor component={Link} to={pathTo('/assets/$assetId', parentAssetId)} size="sm">
        {parentAssetId}
      </Anchor>
    ),
  },
  { title: 'Installed', cell: ({ installedAt }) => <Time at={installedAt} />, width: 150 },
  {
    title: 'Removed',
    cell: ({ removedAt }) => (removedAt === null ? 'still installed' : <Time at={removedAt} />),
    width: 150,
  },
];

function Installations({ assetId }: { assetId: string }) {
  const list = useList<Installation>(assetList(assetId, 'installations/'));
  return (
    <DataTable
      list={list}
      label="Installations"
      columns={installationColumns}
      keyOf={({ parentAssetId, installedAt }) => `${parentAssetId} ${installedAt}`}
      empty={
        <Text c="dimmed" size="sm">
          It has never been installed in another asset.
        </Text>
      }
    />
  );
}
