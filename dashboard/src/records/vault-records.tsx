/** The records of a vault, and a button for a new one. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMayWrite } from '../api/session.ts';
import { Icon } from '../frame/icons.tsx';
import type { Vault } from '../vaults/vault.ts';
import { RecordForm } from './record-form.tsx';
import { RecordList } from './record-list.tsx';

export function VaultRecords({ vault: { address, status } }: { vault: Vault }) {
  const mayWrite = useMayWrite();
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && status === 'active' && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New record
    </Button>
  );
  return (
    <>
      <RecordList vaultAddress={address} create={create} />
      {opened && <RecordForm vaultAddress={address} close={close} />}
    </>
  );
}
