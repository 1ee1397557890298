/** The master keys that a backup belongs to. */
import type { MasterKeySource } from '../config/data-settings.ts';
import { fitsCheckValue } from '../keys/envelope.ts';
import { type MasterKeys, readMasterKeys, withOlder } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';

/** A rotation may be running: the keys of now, and those that were read before. */
export async function readWithOlder(
  source: MasterKeySource,
  before: MasterKeys | null,
): Promise<MasterKeys | null> {
  const now = await readMasterKeys(source);
  return now ? withOlder(now, before) : before;
}

/** The keys that seal the secrets of the snapshot. A backup without them is useless. */
export function keysInUse(
  checkValues: { version: number; check_value: Buffer }[],
  configured: MasterKeys | null,
  source: MasterKeySource,
): MasterKeys {
  const newest = checkValues.at(-1);
  if (!newest) {
    throw new OperatorError(
      'This installation has no master key yet, so there is nothing to back up. Start it once with "holdfast serve".',
    );
  }
  const where = 'text' in source ? 'HOLDFAST_MASTER_KEY' : source.file;
  const byVersion = new Map<number, Buffer>();
  for (const { version, check_value } of checkValues) {
    const key = configured?.byVersion.get(version);
    if (!key || !fitsCheckValue({ version, key }, check_value)) {
      throw new OperatorError(
        `${where} does not have master key version ${version}, which this database is sealed with: the backup could never be restored. Put the right key there first.`,
      );
    }
    byVersion.set(version, key);
  }
  return { current: newest.version, byVersion };
}
