/** One asset: what it is, and by tabs its maintenance, what is due, its parts, people and history. */
import { Alert, Button, Menu, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { DownloadButton } from '../frame/download.tsx';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { useTab } from '../frame/tab.ts';
import { Code } from '../frame/values.tsx';
import { AccessLog } from './access-log.tsx';
import { type Asset, type AssetTransfer, assetList, assetQuery, assetUrl, isUnderWay } from './asset.ts';
import { AssetFacts } from './asset-facts.tsx';
import { AssetForm } from './asset-form.tsx';
import { AssetHistory } from './asset-history.tsx';
import { AssetParts } from './asset-parts.tsx';
import { AssetPeople } from './asset-people.tsx';
import { DueTab } from './due-tab.tsx';
import { MaintenanceDrawer } from './maintenance-drawer.tsx';
import { MaintenanceForm, type MaintenanceStart } from './maintenance-form.tsx';
import { MaintenanceTimeline } from './maintenance-timeline.tsx';
import { Owner } from './owner.tsx';
import { TransferForm } from './transfer-form.tsx';

export function AssetPage() {
  const { assetId } = useParams({ strict: false }) as { assetId: string };
  const { data: asset, error, refetch } = useQuery(assetQuery(assetId));
  if (error && !asset) return <FailureState error={error} again={() => void refetch()} />;
  if (!asset) return <LoadingRows />;
  return <WholeAsset key={asset.assetId} asset={asset} />;
}

function WholeAsset({ asset }: { asset: Asset }) {
  const mayWrite = useMayWrite();
  const [tab, setTab] = useTab('maintenance');
  const [{ entry }, setFilter] = useFilters('entry');
  const [starting, setStarting] = useState<MaintenanceStart | null>(null);
  const open = (maintenanceId: string | null) => setFilter('entry', maintenanceId);
  const start = mayWrite ? setStarting : undefined;
  return (
    <>
      <PageHead
        title={asset.name}
        back={{ to: '/assets', label: 'Assets' }}
        about={<Code value={asset.assetId} label="asset id" whole />}
        actions={
          <>
            <DownloadButton
              label="Dossier"
              path={assetUrl(asset.assetId, 'dossier/')}
              // Long enough for most chains, so that the proof of the dossier is in it.
              query={{ viewerAddress: asset.vaultAddress, wait: 30 }}
              fileName={`dossier-${asset.assetId}.zip`}
            />
            {mayWrite && (
              <>
                <AssetMenu asset={asset} />
                <Button onClick={() => setStarting({})} leftSection={<Icon name="plus" size={16} />}>
                  New entry
                </Button>
              </>
            )}
          </>
        }
      />
      <TransferNotice assetId={asset.assetId} />
      <AssetFacts asset={asset} openDue={() => setTab('due')} />
      <Tabs value={tab} onChange={setTab} keepMounted={false} mt="lg">
        <Tabs.List mb="md">
          <Tabs.Tab value="maintenance">Maintenance</Tabs.Tab>
          <Tabs.Tab value="due">Due</Tabs.Tab>
          <Tabs.Tab value="parts">Parts</Tabs.Tab>
          <Tabs.Tab value="people">People</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="access-log">Access log</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="maintenance">
          <MaintenanceTimeline asset={asset} open={open} start={start} />
        </Tabs.Panel>
        <Tabs.Panel value="due">
          <DueTab asset={asset} open={open} start={start} />
        </Tabs.Panel>
        <Tabs.Panel value="parts">
          <AssetParts asset={asset} />
        </Tabs.Panel>
        <Tabs.Panel value="people">
          <AssetPeople asset={asset} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <AssetHistory asset={asset} />
        </Tabs.Panel>
        <Tabs.Panel value="access-log">
          <AccessLog asset={asset} open={open} />
        </Tabs.Panel>
      </Tabs>
      {entry !== undefined && (
        <MaintenanceDrawer asset={asset} maintenanceId={entry} open={open} start={start} />
      )}
      {starting && <MaintenanceForm asset={asset} start={starting} close={() => setStarting(null)} />}
    </>
  );
}

function AssetMenu({ asset }: { asset: Asset }) {
  const [changing, change] = useDisclosure();
  const [transferring, transfer] = useDisclosure();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={change.open}>
            Change
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="transfer" size={16} />} onClick={transfer.open}>
            Transfer to another vault
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing && <AssetForm asset={asset} close={change.close} />}
      {transferring && <TransferForm asset={asset} close={transfer.close} />}
    </>
  );
}

function TransferNotice({ assetId }: { assetId: string }) {
  const { items } = useList<AssetTransfer>(assetList(assetId, 'transfers/'));
  const underWay = items?.find(isUnderWay);
  if (!underWay) return null;
  return (
    <Alert color="blue" icon={<Icon name="transfer" />} mb="md">
      A transfer to <Owner address={underWay.toVaultAddress} /> is in progress. It is complete when the chain
      has confirmed it; until then the asset cannot be changed.
    </Alert>
  );
}
