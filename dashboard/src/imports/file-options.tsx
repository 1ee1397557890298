/** Files to import: alone or in a folder, with their bytes or only their hashes. */
import { SimpleGrid, Text } from '@mantine/core';
import { DropArea } from '../files/drop-area.tsx';
import { WhatIsSent } from '../files/what-is-sent.tsx';
import { showFailure } from '../frame/notice.ts';
import { formatBytes } from '../frame/values.tsx';
import { nameOf } from './file-job.ts';
import { type ChosenFiles, chosenFiles, droppedFiles } from './folder.ts';

export interface FileOptionsProps {
  chosen: ChosenFiles | null;
  take(chosen: ChosenFiles): void;
  hashOnly: boolean;
  chooseHashOnly(hashOnly: boolean): void;
  disabled: boolean;
}

export function FileOptions({ chosen, take, hashOnly, chooseHashOnly, disabled }: FileOptionsProps) {
  const takeDropped = (dropped: DataTransfer) =>
    void droppedFiles(dropped).then(
      (found) => (found.files.length > 0 ? take(found) : showFailure('There are no files in it.')),
      showFailure,
    );
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <DropArea
          label="Choose a folder"
          about="With the folders inside it. Or drop it here."
          icon="folder"
          folder
          multiple
          disabled={disabled}
          take={(files) => take(chosenFiles(files))}
          takeDropped={takeDropped}
        />
        <DropArea
          label="Choose files"
          about="Or drop them here."
          icon="file"
          multiple
          disabled={disabled}
          take={(files) => take(chosenFiles(files))}
          takeDropped={takeDropped}
        />
      </SimpleGrid>
      {chosen && (
        <Text size="sm" role="status" className="breaks">
          {chosen.folder === null ? 'Chosen: ' : 'Folder: '}
          <b>{nameOf(chosen)}</b>
          {chosen.folder !== null && `, ${chosen.files.length.toLocaleString('en')} files`},{' '}
          {formatBytes(chosen.totalBytes)}. Each keeps its own name, without the path.
        </Text>
      )}
      <div style={{ maxWidth: 420 }}>
        <WhatIsSent
          hashOnly={hashOnly}
          choose={chooseHashOnly}
          disabled={disabled}
          labels={['The files', 'Only their hashes']}
        />
      </div>
    </>
  );
}
