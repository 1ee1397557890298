/** The files of the workspace or of one vault, and the area where new ones are dropped. */
import { Box, Button } from '@mantine/core';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { DropArea } from './drop-area.tsx';
import { FileList } from './file-list.tsx';
import { UploadDialog } from './upload-dialog.tsx';

export interface FileAreaProps {
  /** Only files of this vault. */
  vaultAddress?: string;
  /** False: read-only. */
  takesFiles: boolean;
  /** The dropped files; null while nothing is being added. */
  adding: File[] | null;
  setAdding(files: File[] | null): void;
}

export function FileArea({ vaultAddress, takesFiles, adding, setAdding }: FileAreaProps) {
  const [filters] = useFilters('vault');
  const vault = vaultAddress ?? filters.vault;
  const owner = vaultAddress === undefined ? {} : { vaultAddress };
  return (
    <>
      {takesFiles && (
        <Box mb="md">
          <DropArea
            label="Drop files here, or choose them"
            about="Before anything is sent, you choose what to send: the file, or only its hash."
            multiple
            take={setAdding}
          />
        </Box>
      )}
      <FileList {...owner} create={takesFiles && <AddFilesButton open={() => setAdding([])} />} />
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

export function AddFilesButton({ open }: { open(): void }) {
  return (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      Add files
    </Button>
  );
}
