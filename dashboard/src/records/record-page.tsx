/** One record: its data, its anchor, its proof and its versions. */
import { Button, Code as CodeBlock, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { HoldNote, VaultHoldNote } from '../erasure/hold.tsx';
import { anchorRows } from '../frame/anchor-details.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Details } from '../frame/details.tsx';
import { DownloadButton } from '../frame/download.tsx';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Code, Copy, Status, Time } from '../frame/values.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import { type RecordVersion, recordQuery, recordsPath, type WholeRecord } from './record.ts';
import { RecordForm } from './record-form.tsx';
import { RecordMenu } from './record-menu.tsx';

export function RecordPage() {
  const { recordId } = useParams({ strict: false }) as { recordId: string };
  const [{ version }, setFilter] = useFilters('version');
  const {
    data: record,
    error,
    refetch,
  } = useQuery(recordQuery(recordId, version === undefined ? undefined : Number(version)));
  if (error && !record) return <FailureState error={error} again={() => void refetch()} />;
  if (!record) return <LoadingRows />;
  return (
    <Whole
      record={record}
      newest={version === undefined}
      open={(number) => setFilter('version', String(number))}
    />
  );
}

interface WholeProps {
  record: WholeRecord;
  /** Nobody asked for another version. */
  newest: boolean;
  open(version: number): void;
}

function Whole({ record, newest, open }: WholeProps) {
  const mayWrite = useMayWrite();
  const [adding, add] = useDisclosure();
  const title = record.externalId === '' ? record.id : record.externalId;
  const json = JSON.stringify(record.data, null, 2);
  return (
    <>
      <PageHead
        title={title}
        back={{ to: '/records', label: 'Records' }}
        about={
          <>
            Version {record.version} <Status value={record.status} />
          </>
        }
        actions={
          <>
            <DownloadButton
              label="Proof"
              path={`${recordsPath}/${record.id}/proof`}
              query={{ version: record.version }}
              fileName={`proof-${record.id}-v${record.version}.json`}
              disabled={record.anchor === null}
            />
            {mayWrite && <RecordMenu record={record} erasable={!(newest && record.erased)} />}
            {mayWrite && (
              <Button onClick={add.open} leftSection={<Icon name="plus" size={16} />}>
                New version
              </Button>
            )}
          </>
        }
      />
      <HoldNote id={record.id} noun="record" />
      <VaultHoldNote vaultAddress={record.vaultAddress} noun="record" />
      <Stack gap="lg">
        <Details
          items={[
            ['Record', <Code key="id" value={record.id} label="record id" whole />],
            ['Vault', <VaultLink key="vault" address={record.vaultAddress} />],
            ['Hash', <Code key="hash" value={record.dataHash} label="hash" whole />],
            ['Created', <Time key="created" at={record.createdAt} exact />],
            ...anchorRows(record.status, record.anchor),
          ]}
        />
        <section>
          <Group gap={4} mb="xs">
            <Title order={2} size="h4">
              Data
            </Title>
            {!record.erased && <Copy value={json} label="Copy data" />}
          </Group>
          {record.erased ? (
            <Text c="dimmed" size="sm">
              The data of this version was erased. Its hash and its proof remain.
            </Text>
          ) : (
            <CodeBlock block>{json}</CodeBlock>
          )}
        </section>
        <section>
          <Title order={2} size="h4" mb="xs">
            Versions
          </Title>
          <Versions id={record.id} open={open} />
        </section>
      </Stack>
      {adding && <RecordForm record={record} close={add.close} />}
    </>
  );
}

function Versions({ id, open }: { id: string; open(version: number): void }) {
  const list = useList<RecordVersion>({ noun: 'records', path: `${recordsPath}/${id}/versions` });
  const columns: Column<RecordVersion>[] = [
    {
      title: 'Version',
      width: 110,
      cell: ({ version, createdAt }) => (
        <>
          <Button size="compact-xs" variant="subtle" px={0} onClick={() => open(version)}>
            {`Version ${version}`}
          </Button>
          <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
            <Time at={createdAt} />
          </Text>
        </>
      ),
    },
    { title: 'Hash', cell: ({ dataHash }) => <Code value={dataHash} label="hash" />, wide: true },
    { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 120 },
    {
      title: 'Created',
      cell: ({ createdAt }) => <Time at={createdAt} />,
      width: 140,
      align: 'right',
      wide: true,
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
