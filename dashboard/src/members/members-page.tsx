/** The members of this workspace, their roles, and open invitations. */
import { Badge, Button, Group, Select, Table, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { type Role, useMayManagePeople, useMe } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';
import { InviteForm } from './invite-form.tsx';
import { type Invitation, invitationsQuery, type Member, membersQuery, rolesFor } from './member.ts';

export function MembersPage() {
  const manages = useMayManagePeople();
  const { data: members, error, refetch } = useQuery(membersQuery);
  const [opened, { open, close }] = useDisclosure();
  const invite = manages && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      Invite
    </Button>
  );
  return (
    <>
      <PageHead title="Members" about="People who work in this workspace." actions={invite} />
      {error ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : members ? (
        <MemberTable members={members} />
      ) : (
        <LoadingRows rows={3} />
      )}
      {manages && members && <Invitations />}
      {opened && <InviteForm close={close} />}
    </>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  const client = useQueryClient();
  const me = useMe();
  const [removing, setRemoving] = useState<Member | null>(null);
  return (
    <>
      <Table aria-label="Members" className="stacked">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={170}>Role</Table.Th>
            <Table.Th visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
              Two-factor
            </Table.Th>
            <Table.Th visibleFrom="sm">Joined</Table.Th>
            <Table.Th ta="right">Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((member) => (
            <Table.Tr key={member.id}>
              <Table.Td>
                <Text fw={550} size="sm">
                  {member.name}{' '}
                  {member.id === me.id && (
                    <Badge size="xs" variant="light" radius="sm" tt="none">
                      you
                    </Badge>
                  )}
                </Text>
                <Text c="dimmed" size="xs">
                  {member.email}
                </Text>
              </Table.Td>
              <Table.Td>
                <RoleChoice member={member} />
              </Table.Td>
              <Table.Td visibleFrom="sm">{member.twoFactor ? 'on' : 'off'}</Table.Td>
              <Table.Td visibleFrom="sm">
                <Time at={member.joinedAt} />
              </Table.Td>
              <Table.Td ta="right">
                <RemoveButton member={member} remove={setRemoving} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {removing && (
        <Confirm
          title={removing.id === me.id ? 'Leave this workspace?' : `Remove ${removing.name}?`}
          label={removing.id === me.id ? 'Leave' : 'Remove'}
          close={() => setRemoving(null)}
          act={async () => {
            await call('DELETE', `/platform/members/${removing.id}`);
            if (removing.id === me.id) window.location.assign('/');
            else await client.invalidateQueries({ queryKey: ['members'] });
          }}
        >
          Access ends with the next request. API keys stay valid: they belong to the workspace.
        </Confirm>
      )}
    </>
  );
}

function mayTouch(me: { role: Role }, member: Member): boolean {
  return me.role === 'owner' || (me.role === 'admin' && member.role !== 'owner');
}

function RoleChoice({ member }: { member: Member }) {
  const client = useQueryClient();
  const me = useMe();
  const changing = useMutation({
    mutationFn: (role: string) => call('PATCH', `/platform/members/${member.id}`, { body: { role } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['members'] });
      await client.invalidateQueries({ queryKey: ['me'] });
      showDone(`The role of ${member.name} was changed.`);
    },
  });
  if (!mayTouch(me, member)) return <Text size="sm">{member.role}</Text>;
  return (
    <Select
      aria-label={`Role of ${member.name}`}
      size="xs"
      allowDeselect={false}
      data={rolesFor(me.role)}
      value={member.role}
      disabled={changing.isPending}
      onChange={(role) => role !== null && changing.mutate(role)}
    />
  );
}

function RemoveButton({ member, remove }: { member: Member; remove(member: Member): void }) {
  const me = useMe();
  const own = member.id === me.id;
  if (!own && !mayTouch(me, member)) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={own ? 'Leave' : `Remove ${member.name}`}
      onClick={() => remove(member)}
    >
      {own ? 'Leave' : 'Remove'}
    </Button>
  );
}

function Invitations() {
  const client = useQueryClient();
  const { data: invitations } = useQuery(invitationsQuery);
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  if (!invitations || invitations.length === 0) return null;
  return (
    <>
      <Title order={2} size="h4" mt="xl" mb="sm">
        Invitations
      </Title>
      {invitations.map((invitation) => (
        <Group key={invitation.id} justify="space-between" wrap="nowrap" py={6}>
          <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
            {invitation.email ?? 'Anyone with the link'} as {invitation.role},{' '}
            {invitation.status === 'open' ? 'until' : 'expired'} <Time at={invitation.expiresAt} exact />
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            flex="none"
            aria-label={`Withdraw the invitation for ${invitation.email ?? 'anyone with the link'}`}
            onClick={() => setRevoking(invitation)}
          >
            Withdraw
          </Button>
        </Group>
      ))}
      {revoking && (
        <Confirm
          title="Withdraw the invitation?"
          label="Withdraw"
          close={() => setRevoking(null)}
          act={async () => {
            await call('DELETE', `/platform/invitations/${revoking.id}`);
            await client.invalidateQueries({ queryKey: ['members'] });
          }}
        >
          {revoking.status === 'open'
            ? 'The link stops working at once.'
            : 'It has already expired and will no longer be listed. To invite again, create a new one.'}
        </Confirm>
      )}
    </>
  );
}
