-- Intervals with a tolerance; and life limits, at which an asset is retired for good.
alter table asset_intervals
  add column kind text not null default 'recurring' check (kind in ('recurring', 'life-limit')),
  -- By how much it may be exceeded without moving what is due after it.
  add column tolerance_days integer check (tolerance_days > 0),
  add column tolerance_hours double precision check (tolerance_hours > 0),
  add column tolerance_cycles bigint check (tolerance_cycles > 0),
  -- What was due, and at the latest, when it was last completed: the next one counts from there if that was kept.
  add column due_then jsonb,
  add constraint asset_intervals_life_limit check (
    kind <> 'life-limit'
    or completed_by is null and num_nonnulls(tolerance_days, tolerance_hours, tolerance_cycles) = 0
  );
create index asset_intervals_life_limits on asset_intervals (workspace_id, asset_id) where kind = 'life-limit';
