/** The signed-in user. */

import { queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError, call } from './call.ts';
import type { Schemas } from './schemas.ts';
import { chooseWorkspace, chosenWorkspace } from './workspace.ts';

export type Role = 'owner' | 'admin' | 'developer' | 'viewer';

export type Me = Schemas['Me'];

/** Null: nobody is signed in. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ client }) => findMe(client.getQueryData<Me | null>(['me']) ?? null),
  staleTime: 60_000,
  retry: false,
});

/** `before`: who was signed in on this page. When the session ends, the page keeps them, because their forms are open. */
async function findMe(before: Me | null): Promise<Me | null> {
  try {
    return await call<Me>('GET', '/platform/me');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401 && before === null) return null;
    // This person has no access to the remembered workspace: continues with another.
    if (error.status === 403 && chosenWorkspace() !== null) {
      chooseWorkspace(null);
      return findMe(before);
    }
    throw error;
  }
}

/** Only for pages that require a signed-in user. */
export function useMe(): Me {
  const { data } = useQuery(meQuery);
  if (!data) throw new Error('nobody is signed in');
  return data;
}

/** Whether the person may change things in this workspace. */
export function useMayWrite(): boolean {
  return useMe().role !== 'viewer';
}

export function useMayManagePeople(): boolean {
  const { role } = useMe();
  return role === 'owner' || role === 'admin';
}
