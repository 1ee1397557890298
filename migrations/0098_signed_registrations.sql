-- A registration of a passkey is signed by the worker before it counts: the first one by the key of their address, later ones by
-- a passkey that they have. Between the confirmation by a second person and that signature it is unsigned.
alter table worker_passkeys drop constraint worker_passkeys_state_check;
alter table worker_passkeys
  add constraint worker_passkeys_state_check check (state in ('unconfirmed', 'unsigned', 'active', 'refused', 'revoked')),
  -- A link by which the worker signs it on the device with their other passkey.
  add column token_hash bytea unique check (length(token_hash) = 32),
  add column token_expires_at timestamptz;

-- A revocation is sealed by the vault of the registration, also when that is deactivated by then: it adds nothing, and a lost
-- passkey must not wait.
create or replace function hold_sealing_vaults() returns trigger language plpgsql as $$
declare
  refused text;
begin
  -- Assets before vaults, and each in one order, as everywhere: so no two commits wait for each other.
  if exists (select 1 from added where kind in ('maintenance', 'signoff')) then
    perform 1 from (
      select distinct workspace_id, claims::jsonb ->> 'assetId' as asset_id from added
      where kind in ('maintenance', 'signoff')
    ) as sealed
    join assets a on a.workspace_id = sealed.workspace_id and a.asset_id = sealed.asset_id
    order by a.workspace_id, a.asset_id for share of a;
    -- A statement of its own, which sees what was committed during the wait.
    select a.asset_id into refused
    from added l
    join assets a on a.workspace_id = l.workspace_id and a.asset_id = l.claims::jsonb ->> 'assetId'
    where l.kind in ('maintenance', 'signoff') and a.vault_id <> l.vault_id limit 1;
    if found then
      raise exception 'the asset % has another owner by now', refused
        using errcode = 'check_violation', constraint = 'sealed_by_owner', detail = refused;
    end if;
  end if;
  perform 1 from (
    select distinct workspace_id, vault_id from added
    where kind not in ('transfer', 'validation', 'audit-log', 'dossier')
      and not (kind = 'passkey' and claims::jsonb ->> 'state' = 'revoked')
  ) as sealed
  join vaults v on v.workspace_id = sealed.workspace_id and v.id = sealed.vault_id
  order by v.workspace_id, v.id for share of v;
  select v.address into refused
  from (
    select distinct workspace_id, vault_id from added
    where kind not in ('transfer', 'validation', 'audit-log', 'dossier')
      and not (kind = 'passkey' and claims::jsonb ->> 'state' = 'revoked')
  ) as sealed
  join vaults v on v.workspace_id = sealed.workspace_id and v.id = sealed.vault_id
  where v.status <> 'active' limit 1;
  if found then
    raise exception 'the vault % is deactivated', refused
      using errcode = 'check_violation', constraint = 'sealed_by_active_vault', detail = refused;
  end if;
  return null;
end
$$;
