/** Versions and transfers of an asset, each anchored, with their proofs. */
import { Code as CodeBlock, Group, Stack, Text, Title } from '@mantine/core';
import { useList } from '../api/lists.ts';
import { anchorRows } from '../frame/anchor-details.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Details } from '../frame/details.tsx';
import { DownloadButton, saveHistory } from '../frame/download.tsx';
import { Code, Copy, Status, Time } from '../frame/values.tsx';
import { type Asset, type AssetTransfer, type AssetVersion, assetList, assetUrl } from './asset.ts';
import { Owner } from './owner.tsx';

export function AssetHistory({ asset }: { asset: Asset }) {
  const { assetId } = asset;
  const metadata = JSON.stringify(asset.metadata, null, 2);
  return (
    <Stack gap="lg">
      <Details
        items={[
          ['Version', String(asset.version)],
          ['Owner', <Code key="owner" value={asset.vaultAddress} label="owner's address" whole />],
          ['Created', <Time key="created" at={asset.createdAt} exact />],
          ['Changed', <Time key="changed" at={asset.updatedAt} exact />],
          ...anchorRows(asset.status, asset.anchor),
        ]}
      />
      {metadata !== '{}' && (
        <section>
          <Group gap={4} mb="xs">
            <Title order={2} size="h4">
              Metadata
            </Title>
            <Copy value={metadata} label="Copy metadata" />
          </Group>
          <CodeBlock block>{metadata}</CodeBlock>
        </section>
      )}
      <section>
        <Group justify="space-between" mb="xs">
          <Title order={2} size="h4">
            Versions
          </Title>
          <DownloadButton
            label="Full history"
            path={assetUrl(assetId, 'history/')}
            fileName={`history-${assetId}.json`}
            saveAs={saveHistory}
            size="xs"
          />
        </Group>
        <Versions asset={asset} />
      </section>
      <section>
        <Title order={2} size="h4" mb="xs">
          Transfers
        </Title>
        <Transfers assetId={assetId} />
      </section>
    </Stack>
  );
}

function Versions({ asset: { assetId, version: newest, anchor } }: { asset: Asset }) {
  const list = useList<AssetVersion>(assetList(assetId, 'versions/'));
  const columns: Column<AssetVersion>[] = [
    { title: 'Version', cell: ({ version }) => version, width: 90 },
    { title: 'Name', cell: ({ document }) => String(document.name), wide: true },
    { title: 'Hash', cell: ({ digest }) => <Code value={digest} label="hash" />, wide: true },
    { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 140 },
    {
      title: 'Proof',
      cell: ({ version }) => (
        <DownloadButton
          label="Proof"
          path={assetUrl(assetId, 'proof/')}
          query={{ version }}
          fileName={`proof-${assetId}-v${version}.json`}
          disabled={version === newest && anchor === null}
          size="compact-xs"
        />
      ),
      width: 110,
      align: 'right',
    },
  ];
  return (
    <DataTable
      list={list}
      label="Versions"
      columns={columns}
      keyOf={({ version }) => String(version)}
      empty={null}
    />
  );
}

const transferColumns: Column<AssetTransfer>[] = [
  { title: 'From', cell: ({ fromVaultAddress }) => <Owner address={fromVaultAddress} /> },
  { title: 'To', cell: ({ toVaultAddress }) => <Owner address={toVaultAddress} /> },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 120 },
  {
    title: 'Confirmed',
    cell: ({ anchor }) => (anchor ? <Time at={anchor.anchoredAt} /> : 'not yet'),
    width: 140,
    align: 'right',
    wide: true,
  },
];

function Transfers({ assetId }: { assetId: string }) {
  const list = useList<AssetTransfer>(assetList(assetId, 'transfers/'));
  return (
    <DataTable
      list={list}
      label="Transfers"
      columns={transferColumns}
      keyOf={({ id }) => id}
      empty={
        <Text c="dimmed" size="sm">
          It has never been transferred.
        </Text>
      }
    />
  );
}
