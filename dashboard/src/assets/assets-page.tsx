/** All assets of the workspace. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useMayWrite } from '../api/session.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { pathTo } from '../links.ts';
import { AssetForm } from './asset-form.tsx';
import { AssetList } from './asset-list.tsx';

export function AssetsPage() {
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New asset
    </Button>
  );
  return (
    <>
      <PageHead
        title="Assets"
        about="Items under maintenance: the work done, who did it, and what is due."
        actions={create}
      />
      <AssetList create={create} />
      {opened && (
        <AssetForm
          close={close}
          onSaved={({ assetId }) => void navigate({ to: pathTo('/assets/$assetId', assetId) })}
        />
      )}
    </>
  );
}
