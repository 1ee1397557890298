/** What waits for a second person, and what they decided. */
import { Anchor, Button, Group, Select, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import { useMe } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { PageHead } from '../frame/page-head.tsx';
import { EmptyState } from '../frame/states.tsx';
import { Status, Time } from '../frame/values.tsx';
import { useActorName } from '../members/actor-name.ts';
import { type Approval, approvalsPath, effectOf, subjectPath, titleOf } from './approval.ts';
import { CollectDialog, type Decision, DecisionDialog } from './decision-dialogs.tsx';

const statuses = ['open', 'approved', 'refused', 'withdrawn', 'expired'];

type Act = (approval: Approval, decision: Decision | 'collect') => void;

export function ApprovalsPage() {
  const me = useMe();
  const nameOf = useActorName();
  const [{ status = 'open' }, setFilter] = useFilters('status');
  const [acting, setActing] = useState<{ approval: Approval; decision: Decision | 'collect' } | null>(null);
  const list = useList<Approval>({
    noun: 'approvals',
    path: approvalsPath,
    query: { status: status === 'all' ? undefined : status },
  });
  const whoOf = ({ requestedBy }: Approval) => {
    const { kind, id, personId } = requestedBy;
    if (kind === 'user' || personId === null) return nameOf({ kind, id });
    return `${nameOf({ kind, id })} of ${nameOf({ kind: 'user', id: personId })}`;
  };
  const close = () => setActing(null);
  return (
    <>
      <PageHead
        title="Approvals"
        about="Steps that need a second person. Who asked for one cannot approve it."
      />
      <div className="filters">
        <Select
          label="State"
          allowDeselect={false}
          data={['all', ...statuses]}
          value={status}
          onChange={(value) => setFilter('status', value === 'open' ? null : value)}
        />
      </div>
      <DataTable
        list={list}
        label="Approvals"
        columns={columns({
          nameOf,
          whoOf,
          isOwn: ({ requestedBy }) => requestedBy.personId === me.id,
          act: (approval, decision) => setActing({ approval, decision }),
        })}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon="verify" title={status === 'open' ? 'Nothing waits' : 'There are none'}>
            {status === 'open' ? (
              <>
                Erasing, transfers and new API keys can need a second person. An admin turns that on in the{' '}
                <Anchor
                  component={Link}
                  to="/settings"
                  search={{ tab: 'approvals' } as never}
                  size="sm"
                  underline="always"
                  c="inherit"
                >
                  settings
                </Anchor>
                .
              </>
            ) : (
              'Decided ones are listed for a year; the audit log keeps them for good.'
            )}
          </EmptyState>
        }
      />
      {acting?.decision === 'collect' && <CollectDialog approval={acting.approval} close={close} />}
      {acting && acting.decision !== 'collect' && (
        <DecisionDialog
          approval={acting.approval}
          decision={acting.decision}
          who={whoOf(acting.approval)}
          close={close}
        />
      )}
    </>
  );
}

interface ColumnDeps {
  nameOf: ReturnType<typeof useActorName>;
  whoOf(approval: Approval): string;
  isOwn(approval: Approval): boolean;
  act: Act;
}

function columns({ nameOf, whoOf, isOwn, act }: ColumnDeps): Column<Approval>[] {
  return [
    {
      title: 'Step',
      cell: (approval) => (
        <>
          <Anchor component={Link} to={subjectPath(approval) ?? '/approvals'} size="sm" fw={550}>
            {titleOf(approval)}
          </Anchor>
          <Text size="xs" c="dimmed" className="breaks">
            {effectOf(approval)}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm" component="div">
            <Status value={approval.status} /> {whoOf(approval)}, <Time at={approval.requestedAt} />
          </Text>
          {approval.reason !== null && (
            <Text size="xs" className="breaks">
              “{approval.reason}”
            </Text>
          )}
        </>
      ),
    },
    {
      title: 'Asked by',
      cell: (approval) => <Text size="sm">{whoOf(approval)}</Text>,
      width: 190,
      wide: true,
    },
    {
      title: 'State',
      width: 150,
      wide: true,
      cell: ({ status, expiresAt, decidedAt, decidedBy }) => (
        <>
          <Status value={status} />
          <Text size="xs" c="dimmed" component="div">
            {status === 'open' ? (
              <>
                expires <Time at={expiresAt} />
              </>
            ) : (
              <>
                {decidedBy && `${nameOf(decidedBy)}, `}
                <Time at={decidedAt} />
              </>
            )}
          </Text>
        </>
      ),
    },
    {
      title: 'Actions',
      width: 170,
      align: 'right',
      cell: (approval) => <Actions approval={approval} own={isOwn(approval)} act={act} />,
    },
  ];
}

function Actions({ approval, own, act }: { approval: Approval; own: boolean; act: Act }) {
  const button = (decision: Decision | 'collect', label: string, main = false) => (
    <Button
      size="compact-sm"
      variant={main ? 'filled' : 'default'}
      onClick={() => act(approval, decision)}
      aria-label={`${label}: ${titleOf(approval)}`}
    >
      {label}
    </Button>
  );
  return (
    <Group gap={6} justify="flex-end">
      {approval.canDecide && (
        <>
          {button('approve', 'Approve', true)}
          {button('refuse', 'Refuse')}
        </>
      )}
      {own && approval.status === 'open' && button('withdraw', 'Withdraw')}
      {approval.canCollect && button('collect', 'Collect key', true)}
    </Group>
  );
}
