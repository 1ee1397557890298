/** Members and invitations as the API returns them. */

import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import type { Role } from '../api/session.ts';

export type Member = Schemas['Member'];

export type Invitation = Schemas['Invitation'];

export const membersQuery = queryOptions({
  queryKey: ['members', 'list'],
  queryFn: () => call<Member[]>('GET', '/platform/members'),
});

export const invitationsQuery = queryOptions({
  queryKey: ['members', 'invitations'],
  queryFn: () => call<Invitation[]>('GET', '/platform/invitations'),
});

export const roleTexts: Record<Role, string> = {
  owner: 'everything, including managing owners',
  admin: 'everything, including managing people',
  developer: 'everything except managing people',
  viewer: 'read only',
};

/** The roles that a person with this role may grant or revoke. */
export function rolesFor(role: Role): Role[] {
  return role === 'owner' ? ['owner', 'admin', 'developer', 'viewer'] : ['admin', 'developer', 'viewer'];
}
