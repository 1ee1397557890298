/** All files of the workspace. */
import { Box, Button } from '@mantine/core';
import { useState } from 'react';
import { useMayWrite } from '../api/session.ts';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { DropArea } from './drop-area.tsx';
import { FileList } from './file-list.tsx';
import { UploadDialog } from './upload-dialog.tsx';
import { VerifyLink } from './verify-link.tsx';

export function FilesPage() {
  const mayWrite = useMayWrite();
  const [{ vault }] = useFilters('vault');
  // What was dropped; null while nothing is being added.
  const [adding, setAdding] = useState<File[] | null>(null);
  const add = mayWrite && (
    <Button onClick={() => setAdding([])} leftSection={<Icon name="plus" size={16} />}>
      Add files
    </Button>
  );
  return (
    <>
      <PageHead
        title="Files"
        about="Files whose hash is anchored, version by version, with who owns them."
        actions={
          <>
            <VerifyLink />
            {add}
          </>
        }
      />
      {mayWrite && (
        <Box mb="md">
          <DropArea
            label="Drop files here, or choose them"
            about="You then say which vault they go to, and whether the file or only its hash is sent."
            multiple
            take={setAdding}
          />
        </Box>
      )}
      <FileList create={add} />
      {adding && (
        <UploadDialog
          files={adding}
          {...(vault !== undefined && { vaultAddress: vault })}
          close={() => setAdding(null)}
        />
      )}
    </>
  );
}
