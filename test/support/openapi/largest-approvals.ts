/** Fills the list of approvals with the largest that were refused: for keys with the longest name and every scope. */
import { scopes } from '../../../src/runtime/caller.ts';
import type { Service } from '../service/service.ts';
import { many, wide } from './largest-rows.ts';

export async function fillApprovals(service: Service, vaultAddress: string): Promise<void> {
  const key = { name: wide(200), scopes, expiresAt: '2099-01-01T00:00:00.000Z' };
  await service.sql(
    `insert into approvals (workspace_id, id, step, input, effect, role, digest, requested_kind, requested_by, requested_at,
       expires_at, status, decided_kind, decided_by, decided_at, reason)
     select v.workspace_id, 'apr_' || lpad(n::text, 26, '0'), 'api_key.create', $1, $1, 'admin', sha256(n::text::bytea),
       'user', 'usr_asks', now() - interval '1 hour', now(), 'refused', 'user', 'usr_decides', now(), $2
     from vaults v cross join generate_series(1, ${many}) as n where v.address = $3`,
    [key, wide(500), vaultAddress],
  );
}
