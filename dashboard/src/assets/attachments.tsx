/** Attachments of an entry: chosen here, stored in the owner's vault when the form is sent. */
import { FileInput, Group, Pill, Text } from '@mantine/core';
import { useRef } from 'react';
import { call } from '../api/call.ts';
import { formatBytes } from '../frame/values.tsx';
import type { MaintenanceFile } from './maintenance.ts';

export interface AttachmentsProps {
  chosen: File[];
  choose(files: File[]): void;
  /** Files of the entry that is corrected. */
  kept: MaintenanceFile[];
  keep(files: MaintenanceFile[]): void;
}

export function Attachments({ chosen, choose, kept, keep }: AttachmentsProps) {
  return (
    <>
      <FileInput
        label="Files"
        description="Stored encrypted in the owner’s vault; their hashes become part of the entry."
        placeholder="Choose files"
        multiple
        clearable
        value={chosen}
        onChange={choose}
        valueComponent={({ value }) => (
          <Pill.Group>
            {[value]
              .flat()
              .map(
                (file) =>
                  file && (
                    <Pill key={`${file.name} ${file.size}`}>{`${file.name}, ${formatBytes(file.size)}`}</Pill>
                  ),
              )}
          </Pill.Group>
        )}
      />
      {kept.length > 0 && (
        <Group gap={6}>
          <Text size="sm">Files of the corrected entry:</Text>
          {kept.map((file) => (
            <Pill
              key={file.fileId}
              withRemoveButton
              onRemove={() => keep(kept.filter(({ fileId }) => fileId !== file.fileId))}
              removeButtonProps={{ 'aria-label': `Remove ${file.name}` }}
            >
              {file.name}
            </Pill>
          ))}
        </Group>
      )}
    </>
  );
}

/** Stores files; a file that is sent again because another one failed is not stored twice. */
export function useUploads(vaultAddress: string): (files: File[]) => Promise<string[]> {
  const keys = useRef(new Map<File, string>());
  return async (files) => {
    const ids: string[] = [];
    for (const file of files) {
      const key = keys.current.get(file) ?? crypto.randomUUID();
      keys.current.set(file, key);
      const body = new FormData();
      body.set('vaultAddress', vaultAddress);
      body.set('file', file);
      const headers = { 'idempotency-key': key };
      ids.push((await call<{ id: string }>('POST', '/platform/files', { body, headers })).id);
    }
    return ids;
  };
}
