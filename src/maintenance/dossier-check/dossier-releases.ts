/** Whether sign-offs as certified name the asset as it was: as the version says that they name. */
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { VersionLine } from './dossier-format.ts';

/** `versions`: all that the dossier has. Returns a fault, or null. */
export function releaseFault(
  { release }: Pick<SignoffDocument, 'release'>,
  versions: Map<number, VersionLine>,
): string | null {
  if (!release) return null;
  const { version, ...named } = release.asset;
  const document = versions.get(version)?.document;
  // The asset may have got a new version, and been released in it, while the dossier was written.
  if (!document)
    return version > versions.size ? null : `it releases version ${version} of the asset, which is missing`;
  const other = (['name', 'partNumber', 'serialNumber'] as const).find(
    (name) => document[name] !== named[name],
  );
  return other === undefined ? null : `it releases another ${other} than version ${version} of the asset has`;
}
