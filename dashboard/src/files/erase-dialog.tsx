/** Asks for confirmation before the content of a file, or of one of its versions, is erased. */
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { Confirm } from '../frame/confirm.tsx';
import { showDone } from '../frame/notice.ts';
import { type FileVersion, filesPath } from './file.ts';

export interface EraseDialogProps {
  file: FileVersion;
  /** Only this version. */
  version?: number;
  close(): void;
}

export function EraseDialog({ file: { id, name, version: newest }, version, close }: EraseDialogProps) {
  const client = useQueryClient();
  const what =
    version !== undefined ? `version ${version} of ${name}` : newest > 1 ? `all versions of ${name}` : name;
  return (
    <Confirm
      title="Erase content"
      label="Erase for good"
      close={close}
      act={async () => {
        const kept = await call<{ message: string } | null>('DELETE', `${filesPath}/${id}/content`, {
          query: { version },
        });
        await client.invalidateQueries({ queryKey: ['files'] });
        showDone(kept?.message ?? 'The content is erased.');
      }}
    >
      <p style={{ marginTop: 0 }}>
        The content of {what} is no longer given out, and its bytes are erased for good. Nobody can bring them
        back: not you, not whoever runs this service.
      </p>
      <p style={{ marginBottom: 0 }}>
        Hashes, proofs and certificates stay, so a copy that somebody kept can still be checked. Only where
        another file of the vault has the same bytes do they stay, and you are told so.
      </p>
    </Confirm>
  );
}
