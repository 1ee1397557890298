/** The versions of a file, newest first, and an area for the next one. */
import { ActionIcon, Badge, Box, Group, Menu, Text } from '@mantine/core';
import { useState } from 'react';
import { useList } from '../api/lists.ts';
import { useMayWrite } from '../api/session.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { Icon } from '../frame/icons.tsx';
import { Code, formatBytes, Status, Time } from '../frame/values.tsx';
import { DropArea } from './drop-area.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { type FileVersion, versionList } from './file.ts';
import { VersionDownloads } from './file-downloads.tsx';
import { UploadDialog } from './upload-dialog.tsx';

export interface FileVersionsProps {
  file: FileVersion;
  /** New versions are currently not possible. */
  locked: boolean;
}

export function FileVersions({ file, locked }: FileVersionsProps) {
  const mayWrite = useMayWrite();
  const list = useList<FileVersion>(versionList(file.id));
  const [adding, setAdding] = useState<File[] | null>(null);
  const [erasing, setErasing] = useState<number | null>(null);
  return (
    <>
      {mayWrite && (
        <Box mb="md">
          <DropArea
            label="Drop the new version here, or choose it"
            about={
              locked
                ? 'Not possible while a transfer is in progress.'
                : 'Older versions and their proofs do not change.'
            }
            disabled={locked}
            take={setAdding}
          />
        </Box>
      )}
      <DataTable
        list={list}
        label="Versions"
        columns={[...columns, menuColumn(mayWrite ? setErasing : null)]}
        keyOf={({ version }) => String(version)}
        empty={null}
      />
      {adding && <UploadDialog versionOf={file} files={adding} close={() => setAdding(null)} />}
      {erasing !== null && <EraseDialog file={file} version={erasing} close={() => setErasing(null)} />}
    </>
  );
}

const columns: Column<FileVersion>[] = [
  {
    title: 'Version',
    cell: ({ version, name, expired, createdAt }) => (
      <>
        <Group gap={6}>
          <Text fw={550} size="sm" component="span">
            {version}
          </Text>
          {expired && (
            <Badge size="xs" variant="light" color="yellow" tt="none">
              expired
            </Badge>
          )}
        </Group>
        <Text c="dimmed" size="xs" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text c="dimmed" size="xs" component="div" hiddenFrom="sm">
          <Time at={createdAt} />
        </Text>
      </>
    ),
  },
  {
    title: 'Hash',
    cell: ({ contentHash }) => <Code value={contentHash} label="hash" />,
    width: 200,
    wide: true,
  },
  {
    title: 'Size',
    cell: ({ size }) => <Text size="sm">{size === null ? 'hash only' : formatBytes(size)}</Text>,
    width: 110,
    align: 'right',
    wide: true,
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} />, width: 120 },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    width: 140,
    align: 'right',
    wide: true,
  },
];

/** `erase` is null for users who may not erase. */
function menuColumn(erase: ((version: number) => void) | null): Column<FileVersion> {
  return {
    title: 'Actions',
    width: 80,
    align: 'right',
    cell: (version) => <VersionMenu version={version} erase={erase} />,
  };
}

function VersionMenu({
  version: file,
  erase,
}: {
  version: FileVersion;
  erase: ((version: number) => void) | null;
}) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for version ${file.version}`}>
          <Icon name="more" size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <VersionDownloads file={file} />
        {erase && (
          <Menu.Item
            color="red"
            leftSection={<Icon name="bin" size={16} />}
            disabled={file.size === null}
            onClick={() => erase(file.version)}
          >
            Erase content
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
