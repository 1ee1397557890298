/** The seal over a manifest: only a holder of the master key can have written it, so a changed archive is not restored. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../keys/envelope.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { type ManifestSeal, manifestMember, sealMember } from './format.ts';

/** Writes the last two members, and ends the archive. */
export async function writeManifest(archive: ArchiveWriter, text: string, keys: MasterKeys): Promise<void> {
  await archive.addFile(manifestMember, text);
  const key = keys.byVersion.get(keys.current);
  if (!key) throw new Error(`there is no master key version ${keys.current}`);
  const seal = sealManifest(text, { version: keys.current, key });
  await archive.addFile(sealMember, JSON.stringify(seal));
  await archive.finish();
}

function sealManifest(text: string, master: MasterKey): ManifestSeal {
  return { masterVersion: master.version, hmacSha256: macOf(text, master).toString('hex') };
}

/** Throws when the keys are not those of the backup, or the manifest is not the sealed one. */
export function requireSealed(text: string, seal: ManifestSeal, keys: MasterKeys): void {
  const key = keys.byVersion.get(seal.masterVersion);
  if (!key) {
    throw new OperatorError(
      `The backup needs master key version ${seal.masterVersion}, but the given key does not have it. Give the key file that was created with this backup. Nothing was restored.`,
    );
  }
  const mac = macOf(text, { version: seal.masterVersion, key });
  if (timingSafeEqual(mac, Buffer.from(seal.hmacSha256, 'hex'))) return;
  throw new OperatorError(
    'The master key does not match this backup, or somebody changed the archive after it was created. Give the key file that was created with it. Nothing was restored.',
  );
}

function macOf(text: string, { key, version }: MasterKey): Buffer {
  const macKey = Buffer.from(hkdfSync('sha256', key, '', `holdfast/backup-seal@1 ${version}`, 32));
  return createHmac('sha256', macKey).update(text).digest();
}
