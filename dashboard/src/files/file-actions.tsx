/** The actions on a file, for users who may write. */
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { HoldForm, useHold, useVaultHold } from '../erasure/hold.tsx';
import { Icon } from '../frame/icons.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import type { FileVersion } from './file.ts';
import { TransferForm } from './transfer-form.tsx';
import { UploadDialog } from './upload-dialog.tsx';

export interface FileActionsProps {
  file: FileVersion;
  /** During a transfer, neither another transfer nor a new version is possible. */
  transferring: boolean;
  /** The file has or may have content. */
  erasable: boolean;
}

export function FileActions({ file, transferring, erasable }: FileActionsProps) {
  const [doing, setDoing] = useState<'version' | 'transfer' | 'erase' | 'hold' | null>(null);
  const hold = useHold(file.id);
  const vaultHold = useVaultHold(file.vaultAddress);
  const close = () => setDoing(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button>Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="plus" size={16} />}
            disabled={transferring}
            onClick={() => setDoing('version')}
          >
            New version
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="transfer" size={16} />}
            disabled={transferring}
            onClick={() => setDoing('transfer')}
          >
            Transfer
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="warning" size={16} />} onClick={() => setDoing('hold')}>
            {hold ? 'Release legal hold' : 'Place legal hold'}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Icon name="bin" size={16} />}
            disabled={!erasable || hold !== null || vaultHold !== null}
            onClick={() => setDoing('erase')}
          >
            Erase content
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {doing === 'version' && <UploadDialog versionOf={file} close={close} />}
      {doing === 'transfer' && <TransferForm file={file} close={close} />}
      {doing === 'hold' && <HoldForm subject={{ fileId: file.id }} id={file.id} noun="file" close={close} />}
      {doing === 'erase' && <EraseDialog file={file} close={close} />}
    </>
  );
}
