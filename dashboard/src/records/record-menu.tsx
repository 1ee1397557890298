/** The actions on a record, for users who may write. */
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { HoldForm, useHold, useVaultHold } from '../erasure/hold.tsx';
import { Icon } from '../frame/icons.tsx';
import { EraseDataDialog } from './erase-data-dialog.tsx';
import type { RecordVersion } from './record.ts';

export interface RecordMenuProps {
  record: RecordVersion;
  /** Some version still has its data, or may have. */
  erasable: boolean;
}

export function RecordMenu({ record, erasable }: RecordMenuProps) {
  const [doing, setDoing] = useState<'hold' | 'erase' | null>(null);
  const hold = useHold(record.id);
  const vaultHold = useVaultHold(record.vaultAddress);
  const close = () => setDoing(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="warning" size={16} />} onClick={() => setDoing('hold')}>
            {hold ? 'Release legal hold' : 'Place legal hold'}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Icon name="bin" size={16} />}
            disabled={!erasable || hold !== null || vaultHold !== null}
            onClick={() => setDoing('erase')}
          >
            Erase data
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {doing === 'hold' && (
        <HoldForm subject={{ recordId: record.id }} id={record.id} noun="record" close={close} />
      )}
      {doing === 'erase' && <EraseDataDialog record={record} close={close} />}
    </>
  );
}
