/** What was asked to be signed, when the request was made: only that is signed, whatever has happened since. */
import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/database.ts';
import type { Release, SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { SignoffMessage } from '../../proof/signoff/signoff-message.ts';
import { AppError } from '../../runtime/errors.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import { readRelease } from './organisation.store.ts';

/** What is signed beside the time, which is that of the signing. */
export type AskedMessage = Omit<SignoffMessage, 'signedAt'>;

/** In a sign-off as certified: in whose name, and what was released. */
export async function releaseOf(
  db: Db,
  { role, asked, ...key }: Pick<SignoffDocument, 'role'> & AssetKey & { asked?: AskedMessage | undefined },
): Promise<{ release?: Release }> {
  if (role !== 'certified') return {};
  const release = await readRelease(db, key);
  return { release: { ...release, asset: sameAsset(release.asset, asked) } };
}

/** The version that the signer was shown, if a later one has the same names: what they signed is as true as it was. */
function sameAsset(asset: Release['asset'], asked: AskedMessage | undefined): Release['asset'] {
  const shown = asked?.release[0]?.asset;
  return shown && isDeepStrictEqual({ ...asset, version: shown.version }, shown) ? shown : asset;
}

/** Throws if what would be signed now is not what the signer was shown. */
export function requireAsked({ signedAt: _, ...message }: SignoffMessage, asked: AskedMessage): void {
  const now = {
    ...message,
    release: message.release.map((one) => ({ ...one, asset: sameAsset(one.asset, asked) })),
  };
  if (isDeepStrictEqual(now, asked)) return;
  throw new AppError('conflict', 'What is to be signed has changed. Ask for a new link.');
}
