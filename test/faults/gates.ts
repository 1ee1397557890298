/** Gates inside the service's own transactions: triggers of the test's make whoever comes by wait as long as the test holds one. */
import { withClient } from '../support/service/database.ts';
import { expectSoon } from './expect.ts';
import type { Store } from './store.ts';

/**
 * `blob_attached`: the object is in the store, and no row tells of it. `validation_completed`: the result is known, and
 * not committed. `transfer_completed`: the chain has it, and the file has not moved.
 */
export type Gate = keyof typeof gates;

const gates = {
  blob_attached: { key: 7_301, when: 'before insert on blobs for each row' },
  validation_completed: {
    key: 7_302,
    when: 'before update on file_validations for each row when (old.result is null and new.result is not null)',
  },
  transfer_completed: {
    key: 7_303,
    when: 'before update on transfers for each row when (old.completed_at is null and new.completed_at is not null)',
  },
};

export async function installGates(store: Store): Promise<void> {
  await store.query(`
    create function test_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint);
      return new;
    end $$;
    ${Object.entries(gates)
      .map(
        ([name, { key, when }]) =>
          `create trigger test_${name} ${when} execute function test_gate('${key}');`,
      )
      .join('\n')}`);
}

/** `bring` may bring somebody there; calls `act` while somebody stands at each of the gates, and can only go on when it is done. */
export async function atGates<T>(
  store: Store,
  { names, bring, act }: { names: Gate[]; bring?: () => Promise<void>; act: () => Promise<T> },
): Promise<T> {
  const keys = names.map((name) => gates[name].key);
  return withClient({ connectionString: await store.url() }, async (client) => {
    // Freed with the connection.
    for (const key of keys) await client.query('select pg_advisory_lock($1)', [key]);
    await bring?.();
    await expectSoon(`somebody stands at ${names.join(' and ')}`, async () => {
      const { rows } = await client.query<{ met: number }>(
        `select count(distinct objid)::integer as met from pg_locks
         where locktype = 'advisory' and objid = any ($1::oid[]) and not granted`,
        [keys],
      );
      return rows[0]?.met === keys.length;
    });
    return act();
  });
}
