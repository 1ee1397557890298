/** Buttons that save a response of the API as a file. */
import { Button, type ButtonSize } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { apiUrl, callWhole, confirming, refusal, workspaceHeaders } from '../api/call.ts';
import { Icon } from './icons.tsx';

export interface DownloadProps {
  label: string;
  path: string;
  fileName: string;
  query?: Record<string, string | number | undefined>;
  disabled?: boolean;
  size?: ButtonSize;
  saveAs?: typeof savePath;
}

export function DownloadButton(props: DownloadProps) {
  const { label, path, fileName, query, disabled, size = 'sm', saveAs = savePath } = props;
  const saving = useMutation({ mutationFn: () => saveAs(path, fileName, query) });
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

/** `url`: as made by `apiUrl`. */
export async function save(url: string, fileName: string): Promise<void> {
  const response = await fetch(url, { credentials: 'same-origin', headers: workspaceHeaders() });
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => null));
  offer(await response.blob(), fileName);
}

export function savePath(path: string, fileName: string, query: DownloadProps['query'] = {}): Promise<void> {
  return save(apiUrl(path, query), fileName);
}

/** Saves the whole history, although a long one comes in pages. */
export async function saveHistory(
  path: string,
  fileName: string,
  query: DownloadProps['query'] = {},
): Promise<void> {
  let whole: { proofs: unknown[] } | null = null;
  let cursor: string | undefined;
  do {
    const asked: DownloadProps['query'] = { ...query, cursor };
    const page: { json: { proofs: unknown[] }; response: Response } = await callWhole('GET', path, {
      query: asked,
    });
    if (whole === null) whole = page.json;
    else whole.proofs.push(...page.json.proofs);
    cursor = page.response.headers.get('x-next-cursor') ?? undefined;
  } while (cursor !== undefined);
  offer(new Blob([JSON.stringify(whole)], { type: 'application/json' }), fileName);
}

/** The answer to a request that makes something. */
export async function saveMade(
  path: string,
  fileName: string,
  asked: { body: unknown; query?: DownloadProps['query'] },
): Promise<void> {
  const made = await confirming(async () => {
    const response = await fetch(apiUrl(path, asked.query), {
      method: 'POST',
      credentials: 'same-origin',
      headers: { ...workspaceHeaders(), 'content-type': 'application/json' },
      body: JSON.stringify(asked.body),
    });
    if (!response.ok) throw refusal(response.status, await response.json().catch(() => null));
    return response.blob();
  });
  offer(made, fileName);
}

export function offer(content: Blob, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
