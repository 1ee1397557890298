/** One file: its details, its history, and its actions. */
import { Alert, Badge, Group, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { HoldNote, VaultHoldNote } from '../erasure/hold.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { useTab } from '../frame/tab.ts';
import { Status } from '../frame/values.tsx';
import { vaultQuery } from '../vaults/vault.ts';
import { VaultLink } from '../vaults/vault-link.tsx';
import { type FileVersion, fileQuery, type HistoryItem, historyList } from './file.ts';
import { FileActions } from './file-actions.tsx';
import { FileDetails } from './file-details.tsx';
import { DownloadMenu } from './file-downloads.tsx';
import { FileHistory } from './file-history.tsx';
import { FileValidations } from './file-validations.tsx';
import { FileVersions } from './file-versions.tsx';
import { VerifyLink } from './verify-link.tsx';

export function FilePage() {
  const { fileId } = useParams({ strict: false }) as { fileId: string };
  const { data: file, error, refetch } = useQuery(fileQuery(fileId));
  const owner = useQuery({ ...vaultQuery(file?.vaultAddress ?? ''), enabled: file !== undefined });
  if (error && !file) return <FailureState error={error} again={() => void refetch()} />;
  // The owner's name is in the page head: the page would jump if it came later than the rest.
  if (!file || owner.isPending) return <LoadingRows />;
  return <WholeFile key={file.id} file={file} />;
}

function WholeFile({ file }: { file: FileVersion }) {
  const mayWrite = useMayWrite();
  const [tab, setTab] = useTab('details');
  const history = useList<HistoryItem>(historyList(file.id));
  const transfer = history.items?.findLast(({ type }) => type === 'transfer');
  const underWay = transfer?.anchor === null ? transfer : null;
  return (
    <>
      <PageHead
        title={file.name}
        back={{ to: '/files', label: 'Files' }}
        about={
          <Group gap={8} mt={4}>
            <span>
              Version {file.version}, owned by <VaultLink address={file.vaultAddress} inText />
            </span>
            <Status value={file.status} />
            {file.size === null && <Mark color="blue">hash only</Mark>}
            {file.expired && <Mark color="yellow">expired</Mark>}
            {file.erased && <Mark color="red">content erased</Mark>}
          </Group>
        }
        actions={
          <>
            <VerifyLink wide />
            <DownloadMenu file={file} />
            {mayWrite && (
              <FileActions
                file={file}
                transferring={underWay !== null}
                erasable={file.size !== null && (file.version > 1 || !file.erased)}
              />
            )}
          </>
        }
      />
      <HoldNote id={file.id} noun="file" />
      <VaultHoldNote vaultAddress={file.vaultAddress} noun="file" />
      <Stack gap="xs" mb={underWay || file.expired ? 'md' : 0}>
        {underWay && (
          <Alert color="blue" icon={<Icon name="transfer" />} role="status">
            Being transferred to <VaultLink address={underWay.toVaultAddress ?? ''} inText />. It belongs to
            that vault once the transfer is confirmed; until then, new versions and other transfers are
            refused.
          </Alert>
        )}
        {file.expired && (
          <Alert color="yellow" icon={<Icon name="warning" />}>
            This file has expired: it was valid until {file.expirationDate}. Nothing was deleted. Add a
            version with a later date to renew it.
          </Alert>
        )}
      </Stack>
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="details">Details</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
          <Tabs.Tab value="validations">{mayWrite ? 'Validate' : 'Validations'}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="details">
          <FileDetails file={file} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <FileHistory list={history} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <FileVersions file={file} locked={underWay !== null} />
        </Tabs.Panel>
        <Tabs.Panel value="validations">
          <FileValidations file={file} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Mark({ color, children }: { color: string; children: string }) {
  return (
    <Badge variant="light" color={color} tt="none" radius="sm">
      {children}
    </Badge>
  );
}
