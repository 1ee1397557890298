/** All files of the workspace. */
import { useState } from 'react';
import { useMayWrite } from '../api/session.ts';
import { PageHead } from '../frame/page-head.tsx';
import { ImportLink } from '../imports/import-link.tsx';
import { AddFilesButton, FileArea } from './file-area.tsx';
import { VerifyLink } from './verify-link.tsx';

export function FilesPage() {
  const mayWrite = useMayWrite();
  const [adding, setAdding] = useState<File[] | null>(null);
  return (
    <>
      <PageHead
        title="Files"
        about="Files whose hash is anchored, version by version, and who owns them."
        actions={
          <>
            <VerifyLink />
            {mayWrite && <ImportLink kind="files" />}
            {mayWrite && <AddFilesButton open={() => setAdding([])} />}
          </>
        }
      />
      <FileArea takesFiles={mayWrite} adding={adding} setAdding={setAdding} />
    </>
  );
}
