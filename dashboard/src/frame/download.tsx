/** Buttons that save an answer of the API as a file. */
import { Button, type ButtonSize } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { apiUrl, refusal, workspaceHeaders } from '../api/call.ts';
import { Icon } from './icons.tsx';

export interface DownloadProps {
  label: string;
  path: string;
  fileName: string;
  query?: Record<string, string | number | undefined>;
  disabled?: boolean;
  size?: ButtonSize;
}

export function DownloadButton({ label, path, fileName, query, disabled, size = 'sm' }: DownloadProps) {
  const saving = useMutation({ mutationFn: () => save(apiUrl(path, query), fileName) });
  return (
    <Button
      variant="default"
      size={size}
      onClick={() => saving.mutate()}
      loading={saving.isPending}
      disabled={disabled ?? false}
      leftSection={<Icon name="download" size={16} />}
    >
      {label}
    </Button>
  );
}

/** `url` as `apiUrl` makes it. */
export async function save(url: string, fileName: string): Promise<void> {
  const response = await fetch(url, { credentials: 'same-origin', headers: workspaceHeaders() });
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => null));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
