/** API keys as the API returns them. */

import type { ListOptions } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';

export type ApiKey = Schemas['ApiKey'];

export const keyList: ListOptions = { noun: 'keys', path: '/platform/api-keys' };

const resources = [
  ...['vaults', 'files', 'records', 'assets', 'workers', 'webhooks', 'events', 'keys', 'audit'],
  'approvals',
];

export const scopeChoices = [
  ...resources.map((resource) => ({
    group: resource,
    items: [`${resource}:read`, `${resource}:write`],
  })),
  { group: 'never included in “all”', items: ['signoffs:on-behalf'] },
];

export function keyState({ revokedAt, expiresAt }: ApiKey): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}
