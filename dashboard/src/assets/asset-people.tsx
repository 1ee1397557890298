/** Who works on an asset, who else may look at it, and what is published of it. */

import { Button, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayWrite } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { showDone } from '../frame/notice.ts';
import { Code, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Asset, assetList, assetUrl } from './asset.ts';
import { Nothing, Panel } from './asset-panel.tsx';
import { AssignForm } from './assign-form.tsx';
import { PublishedPages } from './published-pages.tsx';
import { ViewerForm } from './viewer-form.tsx';
import { WorkRules } from './work-rules.tsx';

type AssignedWorker = Schemas['AssetWorker'];

type Viewer = Schemas['AssetViewer'];

export function AssetPeople({ asset }: { asset: Asset }) {
  return (
    <Stack gap="xl">
      <Workers asset={asset} />
      <Viewers asset={asset} />
      <PublishedPages asset={asset} />
      <section>
        <Title order={2} size="h4" mb="xs">
          What sign-offs need
        </Title>
        <WorkRules assetId={asset.assetId} />
      </section>
    </Stack>
  );
}

function Workers({ asset: { assetId } }: { asset: Asset }) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const list = useList<AssignedWorker>(assetList(assetId, 'workers/'));
  const [assigning, assign] = useDisclosure();
  const [leaving, setLeaving] = useState<AssignedWorker | null>(null);
  const columns: Column<AssignedWorker>[] = [
    {
      title: 'Name',
      cell: ({ name, address }) => (
        <Link to={pathTo('/workers/$address', address)} className="row-link">
          <Text fw={550} size="sm">
            {name}
          </Text>
        </Link>
      ),
    },
    { title: 'Address', cell: ({ address }) => <Code value={address} label="address" />, wide: true },
  ];
  if (mayWrite) {
    columns.push({
      title: 'Actions',
      width: 120,
      align: 'right',
      cell: (worker) => (
        <Button
          size="compact-xs"
          variant="subtle"
          color="red"
          aria-label={`Unassign ${worker.name}`}
          onClick={() => setLeaving(worker)}
        >
          Unassign
        </Button>
      ),
    });
  }
  return (
    <Panel
      title="Workers"
      about="They have access to the asset, record work and sign it off."
      action={mayWrite && 'Assign workers'}
      act={assign.open}
    >
      <DataTable
        list={list}
        label="Assigned workers"
        columns={columns}
        keyOf={({ address }) => address}
        empty={<Nothing>No workers are assigned. Assign one to record work.</Nothing>}
      />
      {assigning && (
        <AssignForm
          assetId={assetId}
          assigned={(list.items ?? []).map(({ address }) => address)}
          close={assign.close}
        />
      )}
      {leaving && (
        <Confirm
          title={`Unassign ${leaving.name}`}
          label="Unassign"
          close={() => setLeaving(null)}
          act={async () => {
            await call('DELETE', assetUrl(assetId, `workers/${leaving.address}/`));
            await client.invalidateQueries({ queryKey: ['assets'] });
            showDone(`${leaving.name} is no longer assigned to this asset.`);
          }}
        >
          {leaving.name} can no longer record or sign work on this asset. Existing entries stay.
        </Confirm>
      )}
    </Panel>
  );
}

function Viewers({ asset: { assetId } }: { asset: Asset }) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const list = useList<Viewer>(assetList(assetId, 'viewers/'));
  const [granting, grant] = useDisclosure();
  const [leaving, setLeaving] = useState<Viewer | null>(null);
  const columns: Column<Viewer>[] = [
    { title: 'Address', cell: ({ address }) => <Code value={address} label="address" /> },
    {
      title: 'Ends',
      cell: ({ until }) => (until === null ? 'when revoked' : <Time at={until} />),
      width: 180,
    },
  ];
  if (mayWrite) {
    columns.push({
      title: 'Actions',
      width: 120,
      align: 'right',
      cell: (viewer) => (
        <Button
          size="compact-xs"
          variant="subtle"
          color="red"
          aria-label={`Revoke the grant of ${viewer.address}`}
          onClick={() => setLeaving(viewer)}
        >
          Revoke
        </Button>
      ),
    });
  }
  return (
    <Panel
      title="Viewers"
      about="The owner and assigned workers always have access. Viewers have access while their grants are valid."
      action={mayWrite && 'Grant'}
      act={grant.open}
    >
      <DataTable
        list={list}
        label="Viewers"
        columns={columns}
        keyOf={({ address }) => address}
        empty={<Nothing>No one else has access to this asset.</Nothing>}
      />
      {granting && <ViewerForm assetId={assetId} close={grant.close} />}
      {leaving && (
        <Confirm
          title="Revoke the grant"
          label="Revoke"
          close={() => setLeaving(null)}
          act={async () => {
            await call('DELETE', assetUrl(assetId, `viewers/${leaving.address}/`));
            await client.invalidateQueries({ queryKey: ['assets'] });
            showDone('The grant was revoked.');
          }}
        >
          From the next request on, <span className="mono">{leaving.address}</span> can no longer see this
          asset.
        </Confirm>
      )}
    </Panel>
  );
}
