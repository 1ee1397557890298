/** Sends files, or their hashes, to be anchored: as new files, or as a new version of a file. */
import { Alert, Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { useList } from '../api/lists.ts';
import { useSessionEnded } from '../api/session-end.ts';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { pathTo } from '../links.ts';
import { type Vault, vaultList } from '../vaults/vault.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { DropArea } from './drop-area.tsx';
import { type FileVersion, filesPath } from './file.ts';
import { sendUpload } from './send-upload.ts';
import { createUploadQueue, type Upload, type UploadSettings } from './upload-queue.ts';
import { UploadRows } from './upload-rows.tsx';
import { WhatIsSent } from './what-is-sent.tsx';

export interface UploadDialogProps {
  /** Absent: new files. */
  versionOf?: FileVersion;
  /** Files that were already dropped elsewhere. */
  files?: File[];
  /** The preselected vault. */
  vaultAddress?: string;
  close(): void;
}

export function UploadDialog({ versionOf, files = [], vaultAddress, close }: UploadDialogProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [queue] = useState(() => {
    const made = createUploadQueue(sendUpload);
    made.add(files, versionOf?.name);
    return made;
  });
  const uploads = useSyncExternalStore(queue.subscribe, queue.list);
  const [chosen, setVault] = useState(vaultAddress ?? null);
  const { items: vaults } = useList<Vault>({ ...vaultList, query: { status: 'active' }, limit: 1000 });
  // With only one vault there is nothing to choose.
  const vault = chosen ?? (vaults?.length === 1 ? (vaults[0]?.address ?? null) : null);
  // If only the hash was given before, the bytes must not be sent by accident.
  const [hashOnly, setHashOnly] = useState(versionOf?.size === null);
  const [expirationDate, setExpirationDate] = useState('');
  const { busy, unsent, finished } = summarise(uploads);
  useWarningBeforeLeaving(busy);
  const ended = useSessionEnded();

  const start = async (ids?: string[]) => {
    const fields = {
      ...(!versionOf && vault !== null && { vaultAddress: vault }),
      ...(expirationDate !== '' && { expirationDate }),
    };
    const path = versionOf ? `${filesPath}/${versionOf.id}/versions` : filesPath;
    const settings: UploadSettings = { path, hashOnly, fields };
    await queue.start(settings, ids);
    await client.invalidateQueries({ queryKey: ['files'] });
    const [only, second] = queue.list();
    if (only?.made && !second) {
      showDone(versionOf ? `Version ${only.made.version} was accepted.` : `${only.made.name} was accepted.`);
      close();
      await navigate({ to: pathTo('/files/$fileId', only.made.id) });
    }
  };
  const end = () => {
    queue.cancelAll();
    close();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (finished) close();
    else void start(unsent.map(({ id }) => id));
  };
  const takesMore = !busy && (!versionOf || uploads.length === 0);
  return (
    <Modal
      opened
      onClose={end}
      closeOnClickOutside={!busy}
      closeOnEscape={!busy && !ended}
      title={versionOf ? 'New version' : 'Add files'}
      centered
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {versionOf && (
            <Text size="sm" c="dimmed" className="breaks">
              Of {versionOf.name}. Older versions and their proofs do not change.
            </Text>
          )}
          {!finished && (
            <fieldset disabled={busy} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
              <Stack gap="sm">
                {!versionOf && vaults?.length === 0 && <NoVault />}
                {!versionOf && <VaultChoice value={vault} choose={setVault} />}
                <WhatIsSent hashOnly={hashOnly} choose={setHashOnly} disabled={busy} />
                <TextInput
                  type="date"
                  label="Expires after"
                  description="Optional. After that day the file is marked as expired; nothing is deleted."
                  min={new Date().toISOString().slice(0, 10)}
                  value={expirationDate}
                  onChange={(event) => setExpirationDate(event.currentTarget.value)}
                />
              </Stack>
            </fieldset>
          )}
          {takesMore && !finished && (
            <DropArea
              label={
                versionOf ? 'Drop the new version here, or choose it' : 'Drop files here, or choose them'
              }
              multiple={!versionOf}
              take={(given) => queue.add(given, versionOf?.name)}
            />
          )}
          {uploads.length > 0 && (
            <UploadRows uploads={uploads} queue={queue} retry={(id) => void start([id])} />
          )}
          <Group justify="flex-end" gap="xs" mt="xs">
            {!finished && (
              <Button variant="default" onClick={end}>
                {busy ? 'Stop and close' : unsent.length < uploads.length ? 'Close' : 'Cancel'}
              </Button>
            )}
            <Button
              type="submit"
              loading={busy}
              disabled={!finished && (unsent.length === 0 || (!versionOf && vault === null))}
            >
              {finished ? 'Done' : submitWords(unsent, hashOnly)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function NoVault() {
  return (
    <Alert color="yellow" icon={<Icon name="warning" />} py="xs">
      Files belong to a vault, and there is no active one.{' '}
      <Anchor component={Link} to="/vaults" size="sm" underline="always" c="inherit">
        Create a vault first
      </Anchor>
      .
    </Alert>
  );
}

/** Unsent: neither accepted nor in progress. */
function summarise(uploads: readonly Upload[]): { busy: boolean; unsent: Upload[]; finished: boolean } {
  return {
    busy: uploads.some(({ state }) => state === 'hashing' || state === 'sending'),
    unsent: uploads.filter(({ state }) => ['waiting', 'failed', 'cancelled'].includes(state)),
    finished: uploads.length > 0 && uploads.every(({ state }) => state === 'done'),
  };
}

function submitWords(unsent: Upload[], hashOnly: boolean): string {
  const again = unsent.length > 0 && unsent.every(({ state }) => state !== 'waiting');
  if (again) return 'Try again';
  if (unsent.length <= 1) return hashOnly ? 'Send the hash' : 'Upload';
  return hashOnly ? `Send ${unsent.length} hashes` : `Upload ${unsent.length} files`;
}

function useWarningBeforeLeaving(busy: boolean): void {
  useWindowEvent('beforeunload', (event) => {
    if (busy) event.preventDefault();
  });
}
