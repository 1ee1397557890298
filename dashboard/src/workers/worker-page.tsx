/** One worker: address, who holds the key, and the licences. */
import { Alert, Button, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Details } from '../frame/details.tsx';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState, FailureState, LoadingRows } from '../frame/states.tsx';
import { Code, Time } from '../frame/values.tsx';
import { LicenceState } from './licence-state.tsx';
import { LicencesForm } from './licences-form.tsx';
import { OtherRecords, SamePersonForm } from './same-person-form.tsx';
import { isExpired, type Licence, type Worker, workerQuery } from './worker.ts';
import { WorkerForm } from './worker-form.tsx';
import { WorkerPasskeys } from './worker-passkeys.tsx';

export function WorkerPage() {
  const { address } = useParams({ strict: false }) as { address: string };
  const { data: worker, error, refetch } = useQuery(workerQuery(address));
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!worker) return <LoadingRows />;
  return <WholeWorker worker={worker} />;
}

const keyWords: Record<Worker['keyHolder'], { about: string; key: string }> = {
  service: {
    about: 'The service holds the key and signs for this worker.',
    key: 'held by the service, encrypted',
  },
  worker: { about: 'Signs with their own key; only signatures are submitted.', key: 'held by the worker' },
  passkey: {
    about: 'Signs with a passkey; nobody else can sign for this worker.',
    key: 'a passkey of the worker',
  },
};

const columns: Column<Licence>[] = [
  {
    title: 'Scope',
    cell: ({ scope, number }) => (
      <>
        <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {scope}
        </Text>
        <Text c="dimmed" size="xs" className="mono" hiddenFrom="sm">
          {number}
        </Text>
      </>
    ),
  },
  { title: 'Number', cell: ({ number }) => <span className="mono">{number}</span>, wide: true },
  { title: 'Authority', cell: ({ authority }) => authority, wide: true },
  { title: 'Expires', cell: (licence) => <LicenceState licence={licence} />, width: '40%' },
];

function WholeWorker({ worker }: { worker: Worker }) {
  const mayWrite = useMayWrite();
  const [renaming, rename] = useDisclosure();
  const [licensing, license] = useDisclosure();
  const [joining, join] = useDisclosure();
  const expired = worker.licences.filter((licence) => isExpired(licence));
  const edit = mayWrite && (
    <Button
      variant={worker.licences.length === 0 ? 'filled' : 'default'}
      onClick={license.open}
      leftSection={<Icon name={worker.licences.length === 0 ? 'plus' : 'pencil'} size={16} />}
    >
      {worker.licences.length === 0 ? 'Add licences' : 'Edit licences'}
    </Button>
  );
  return (
    <>
      <PageHead
        title={worker.name}
        back={{ to: '/workers', label: 'Workers' }}
        about={keyWords[worker.keyHolder].about}
        actions={
          mayWrite && (
            <>
              <Button variant="default" onClick={rename.open} leftSection={<Icon name="pencil" size={16} />}>
                Rename
              </Button>
              <Button variant="default" onClick={join.open}>
                Same person
              </Button>
              {worker.licences.length > 0 && edit}
            </>
          )
        }
      />
      <Details
        items={[
          ['Address', <Code key="address" value={worker.address} label="address" whole />],
          ['Key', keyWords[worker.keyHolder].key],
          ['Person', <OtherRecords key="person" worker={worker} />],
          ['Created', <Time key="created" at={worker.createdAt} exact />],
          ['Changed', <Time key="updated" at={worker.updatedAt} exact />],
        ]}
      />
      <Title order={2} size="h4" mt="lg" mb="xs">
        Licences
      </Title>
      {expired.length > 0 && (
        <Alert color="red" icon={<Icon name="warning" />} mb="sm">
          {expired.length === 1 ? 'One licence has expired' : `${expired.length} licences have expired`}.
          Nothing can be inspected or certified with {expired.length === 1 ? 'it' : 'them'} until renewed.
        </Alert>
      )}
      <DataTable
        list={{
          items: worker.licences,
          error: null,
          more: undefined,
          loadingMore: false,
          again: () => {},
        }}
        label="Licences"
        columns={columns}
        keyOf={({ scope, number }) => `${scope} ${number}`}
        empty={
          <EmptyState icon="verify" title="No licences" action={edit}>
            Without a licence, a worker can sign only as performed. Inspecting and certifying need a licence
            whose scope fits the work.
          </EmptyState>
        }
      />
      <WorkerPasskeys worker={worker} />
      {renaming && <WorkerForm worker={worker} close={rename.close} />}
      {licensing && <LicencesForm worker={worker} close={license.close} />}
      {joining && <SamePersonForm worker={worker} close={join.close} />}
    </>
  );
}
