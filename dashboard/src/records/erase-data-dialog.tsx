/** Asks for confirmation before the data of a record is erased. */
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { waitsForApproval } from '../approvals/approval.ts';
import { Confirm } from '../frame/confirm.tsx';
import { showDone } from '../frame/notice.ts';
import { type RecordVersion, recordsPath } from './record.ts';

export function EraseDataDialog({ record, close }: { record: RecordVersion; close(): void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title="Erase data"
      label="Erase permanently"
      close={close}
      act={async () => {
        const erased = await call<{ goneFromBackupsAt: string }>(
          'DELETE',
          `${recordsPath}/${record.id}/data`,
        );
        if (waitsForApproval(client, erased)) return;
        await client.invalidateQueries({ queryKey: ['records'] });
        const until = erased.goneFromBackupsAt.slice(0, 10);
        showDone(`The data was erased. Backups may contain it until ${until}.`);
      }}
    >
      <p style={{ marginTop: 0 }}>
        The data of all versions is erased permanently. It cannot be restored, not even by the operator of
        this service.
      </p>
      <p style={{ marginBottom: 0 }}>
        Hashes and proofs remain, and so does the external id. Download the proof first if you keep a copy of
        the data: without the salt in it, the copy can no longer be compared with the hash.
      </p>
    </Confirm>
  );
}
