/** An area for files: dropped on it, or chosen by click or keyboard. */
import { Text } from '@mantine/core';
import { type DragEvent, useState } from 'react';
import { Icon, type IconName } from '../frame/icons.tsx';
import { showFailure } from '../frame/notice.ts';

export interface DropAreaProps {
  label: string;
  about?: string;
  icon?: IconName;
  multiple?: boolean;
  disabled?: boolean;
  /** Choosing means a folder, with all files in it. */
  folder?: boolean;
  take(files: File[]): void;
  /** Without it, folders are not accepted. */
  takeDropped?: (dropped: DataTransfer) => void;
}

export function DropArea({
  label,
  about,
  icon = 'upload',
  multiple = false,
  disabled = false,
  folder = false,
  take,
  takeDropped,
}: DropAreaProps) {
  const [over, setOver] = useState(false);
  const takeAll = (files: File[]) => {
    if (!disabled && files.length > 0) take(multiple ? files : files.slice(0, 1));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!takeDropped) takeAll(filesOf(event.dataTransfer));
    else if (!disabled) takeDropped(event.dataTransfer);
  };
  return (
    // The input inside does everything that dropping does.
    <label
      className="drop-area"
      data-over={over || undefined}
      data-disabled={disabled || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name={icon} size={24} />
      <span>
        <Text component="span" display="block" size="sm" fw={550}>
          {label}
        </Text>
        {about !== undefined && (
          <Text component="span" display="block" size="xs" c="dimmed">
            {about}
          </Text>
        )}
      </span>
      <input
        type="file"
        multiple={multiple}
        {...(folder && { webkitdirectory: '' })}
        disabled={disabled}
        onChange={(event) => {
          takeAll([...(event.currentTarget.files ?? [])]);
          // So that the same file can be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}

function filesOf({ items }: DataTransfer): File[] {
  const entries = [...items].filter(({ kind }) => kind === 'file');
  const folders = entries.filter((entry) => entry.webkitGetAsEntry()?.isDirectory);
  if (folders.length > 0) showFailure('Folders are not accepted. Drop the files inside them.');
  return entries.flatMap((entry) => {
    const file = folders.includes(entry) ? null : entry.getAsFile();
    return file ? [file] : [];
  });
}
