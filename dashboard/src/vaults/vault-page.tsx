/** One vault: its name, and its transactions, files and records. */
import { Alert, Button, Menu, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useMayWrite } from '../api/session.ts';
import { AssetList } from '../assets/asset-list.tsx';
import { HoldForm, HoldNote, useHold } from '../erasure/hold.tsx';
import { RetentionForm } from '../erasure/retention-form.tsx';
import { VaultFiles } from '../files/vault-files.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { useTab } from '../frame/tab.ts';
import { Code, Status } from '../frame/values.tsx';
import { VaultRecords } from '../records/vault-records.tsx';
import { TransactionList } from './transaction-list.tsx';
import { type Vault, vaultQuery } from './vault.ts';
import { VaultForm } from './vault-form.tsx';

export function VaultPage() {
  const { address } = useParams({ strict: false }) as { address: string };
  const { data: vault, error, refetch } = useQuery(vaultQuery(address));
  if (error && !vault) return <FailureState error={error} again={() => void refetch()} />;
  if (!vault) return <LoadingRows />;
  return <WholeVault vault={vault} />;
}

function WholeVault({ vault }: { vault: Vault }) {
  const mayWrite = useMayWrite();
  const [tab, setTab] = useTab('transactions');
  const [renaming, { open, close }] = useDisclosure();
  return (
    <>
      <PageHead
        title={vault.name}
        back={{ to: '/vaults', label: 'Vaults' }}
        about={
          <>
            {/* On one line on phones, too. */}
            <Text span fz={{ base: 12, xs: 'sm' }}>
              <Code value={vault.address} label="address" whole />
            </Text>{' '}
            <Status value={vault.status} />
            {vault.description !== '' && <div className="breaks">{vault.description}</div>}
          </>
        }
        actions={mayWrite && <VaultMenu vault={vault} rename={open} />}
      />
      <HoldNote id={vault.id} noun="vault" />
      {vault.status === 'inactive' && (
        <Alert color="yellow" icon={<Icon name="warning" />} mb="md">
          This vault is deactivated and accepts nothing new. Its content can still be read, validated and
          proved.
        </Alert>
      )}
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="transactions">Transactions</Tabs.Tab>
          <Tabs.Tab value="files">Files</Tabs.Tab>
          <Tabs.Tab value="records">Records</Tabs.Tab>
          <Tabs.Tab value="assets">Assets</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="transactions">
          <TransactionList address={vault.address} />
        </Tabs.Panel>
        <Tabs.Panel value="files">
          <VaultFiles vault={vault} />
        </Tabs.Panel>
        <Tabs.Panel value="records">
          <VaultRecords vault={vault} />
        </Tabs.Panel>
        <Tabs.Panel value="assets">
          <AssetList vaultAddress={vault.address} />
        </Tabs.Panel>
      </Tabs>
      {renaming && <VaultForm vault={vault} close={close} />}
    </>
  );
}

function VaultMenu({ vault, rename }: { vault: Vault; rename(): void }) {
  const client = useQueryClient();
  const active = vault.status === 'active';
  const [doing, setDoing] = useState<'hold' | 'retention' | null>(null);
  const hold = useHold(vault.id);
  const close = () => setDoing(null);
  const turning = useMutation({
    mutationFn: () =>
      call('PATCH', `/platform/vaults/${vault.address}/${active ? 'deactivate' : 'reactivate'}`),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['vaults'] });
      showDone(active ? 'The vault was deactivated.' : 'The vault was reactivated.');
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" loading={turning.isPending}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="pencil" size={16} />} onClick={rename}>
            Rename
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="settings" size={16} />} onClick={() => setDoing('retention')}>
            Retention
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="warning" size={16} />} onClick={() => setDoing('hold')}>
            {hold ? 'Release legal hold' : 'Place legal hold'}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name={active ? 'cross' : 'again'} size={16} />}
            {...(active && { color: 'red' })}
            onClick={() => turning.mutate()}
          >
            {active ? 'Deactivate' : 'Reactivate'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {doing === 'hold' && (
        <HoldForm subject={{ vaultAddress: vault.address }} id={vault.id} noun="vault" close={close} />
      )}
      {doing === 'retention' && <RetentionForm vaultAddress={vault.address} close={close} />}
    </>
  );
}
