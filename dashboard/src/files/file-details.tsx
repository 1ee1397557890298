/** The details of a file's newest version. */
import { anchorRows } from '../frame/anchor-details.tsx';
import { Details } from '../frame/details.tsx';
import { Code, formatBytes, Time } from '../frame/values.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import type { FileVersion } from './file.ts';

export function FileDetails({ file }: { file: FileVersion }) {
  return (
    <Details
      items={[
        ['File', <Code key="id" value={file.id} label="file id" whole />],
        ['Owner', <VaultLink key="vault" address={file.vaultAddress} />],
        ['SHA-256', <Code key="hash" value={file.contentHash} label="hash" whole />],
        [
          'Size',
          file.size === null
            ? 'Not known: only the hash was given'
            : `${formatBytes(file.size)}${file.size < 1000 ? '' : ` (${file.size.toLocaleString('en')} bytes)`}`,
        ],
        ['Type', file.mediaType],
        ['Content', contentWords(file)],
        ['Created', <Time key="created" at={file.createdAt} exact />],
        ['Expires', file.expirationDate ?? 'never'],
        ...anchorRows(file.status, file.anchor),
      ]}
    />
  );
}

function contentWords({ size, erased }: FileVersion): string {
  if (size === null) return 'Not stored here: only the hash was given';
  if (erased) return 'Erased; the hash and the proof remain';
  return 'Stored encrypted';
}
