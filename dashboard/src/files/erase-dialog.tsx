/** Asks for confirmation before the content of a file, or of one of its versions, is erased. */
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { waitsForApproval } from '../approvals/approval.ts';
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
      label="Erase permanently"
      close={close}
      act={async () => {
        const kept = await call<{ message: string } | null>('DELETE', `${filesPath}/${id}/content`, {
          query: { version },
        });
        await client.invalidateQueries({ queryKey: ['files'] });
        if (waitsForApproval(client, kept)) return;
        showDone(kept?.message ?? 'The content was erased.');
      }}
    >
      <p style={{ marginTop: 0 }}>
        The content of {what} can no longer be downloaded, and its bytes are erased permanently. They cannot
        be restored, not even by the operator of this service.
      </p>
      <p style={{ marginBottom: 0 }}>
        Hashes, proofs and certificates remain, so a copy that someone kept can still be checked. If another
        file of the vault has the same bytes, they are kept, and a message says so.
      </p>
    </Confirm>
  );
}
