/** What is to be imported, into which vault, and how it is read. */
import { Alert, Button, Group, Input, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useList } from '../api/lists.ts';
import { useMe } from '../api/session.ts';
import { useFilters } from '../frame/filters.ts';
import { Icon } from '../frame/icons.tsx';
import { showFailure } from '../frame/notice.ts';
import { type Vault, vaultList } from '../vaults/vault.ts';
import { VaultChoice } from '../vaults/vault-choice.tsx';
import { fileImportId, fileJob } from './file-job.ts';
import { FileOptions } from './file-options.tsx';
import type { ChosenFiles } from './folder.ts';
import { findImport, type KeptImport, listImports } from './journal.ts';
import { KnownAlready } from './known-already.tsx';
import { RecordChoice } from './record-choice.tsx';
import { draftFault, draftOf, inputOf, type RecordDraft } from './record-draft.ts';
import { recordJob } from './record-job.ts';
import { RecordOptions } from './record-options.tsx';
import { closeCheck, type Job, startImport, useRun } from './run.ts';

export function ImportForm() {
  const { workspaceId } = useMe();
  const run = useRun();
  const busy = run !== null && run.phase !== 'ended';
  const [filters] = useFilters('vault', 'kind');
  const [kind, setKind] = useState(filters.kind === 'files' ? 'files' : 'records');
  const [chosenVault, setVault] = useState(filters.vault ?? null);
  const [draft, setDraft] = useState<RecordDraft | null>(null);
  const [chosen, setChosen] = useState<ChosenFiles | null>(null);
  const [hashOnly, setHashOnly] = useState(false);
  const [known, setKnown] = useState<KeptImport | null>(null);
  const { items: vaults } = useList<Vault>({ ...vaultList, query: { status: 'active' }, limit: 1000 });
  // With only one vault there is nothing to choose.
  const vaultAddress = chosenVault ?? (vaults?.length === 1 ? (vaults[0]?.address ?? null) : null);

  const options = JSON.stringify([kind, vaultAddress, draft && inputOf(draft), hashOnly]);
  // What was checked is not what is chosen now.
  useEffect(closeCheck, [options, draft?.file, chosen]);

  /** With the options of an earlier import of the same file. */
  const takeRecords = async (file: File) => {
    try {
      const before = await listImports(workspaceId).catch(() => []);
      const same = before.find(
        ({ input, name, totalBytes }) => input && name === file.name && totalBytes === file.size,
      );
      setDraft(await draftOf(file, same?.input ?? null));
      setKnown(same ?? null);
      if (same) setVault(same.vaultAddress);
    } catch (error) {
      showFailure(error);
    }
  };
  useEffect(() => {
    if (kind !== 'files' || !chosen || vaultAddress === null) return;
    let isCurrent = true;
    const id = fileImportId({ chosen, vaultAddress, workspaceId, hashOnly });
    findImport(id)
      .catch(() => null)
      .then((kept) => isCurrent && setKnown(kept));
    return () => {
      isCurrent = false;
    };
  }, [kind, chosen, vaultAddress, workspaceId, hashOnly]);

  const job = (dryRun: boolean): Job | null => {
    if (vaultAddress === null) return null;
    if (kind === 'files')
      return chosen && fileJob({ chosen, vaultAddress, workspaceId, hashOnly }, { dryRun });
    if (!draft || draftFault(draft) !== null) return null;
    return recordJob({ file: draft.file, vaultAddress, workspaceId, input: inputOf(draft) }, { dryRun });
  };
  const start = (dryRun: boolean) => {
    const made = job(dryRun);
    if (made) void startImport(made);
  };
  const isReady = job(true) !== null;
  return (
    <Paper withBorder p="md">
      <fieldset disabled={busy} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
        <Stack gap="md">
          <div>
            <Input.Label labelElement="div" id="import-kind">
              What to import
            </Input.Label>
            <SegmentedControl
              fullWidth
              maw={420}
              disabled={busy}
              aria-labelledby="import-kind"
              data={[
                { value: 'records', label: 'Records' },
                { value: 'files', label: 'Files' },
              ]}
              value={kind}
              onChange={(value) => {
                setKind(value);
                setKnown(null);
              }}
            />
          </div>
          <div style={{ maxWidth: 420 }}>
            <VaultChoice value={vaultAddress} choose={setVault} />
          </div>
          {kind === 'records' ? (
            <RecordChoice draft={draft} disabled={busy} take={(file) => void takeRecords(file)} />
          ) : (
            <FileOptions
              chosen={chosen}
              take={setChosen}
              hashOnly={hashOnly}
              chooseHashOnly={setHashOnly}
              disabled={busy}
            />
          )}
          {known && <KnownAlready kept={known} forgotten={() => setKnown(null)} />}
          {kind === 'records' && draft && <RecordOptions draft={draft} change={setDraft} />}
          <Group gap="xs">
            <Button variant="default" disabled={!isReady} onClick={() => start(true)}>
              {kind === 'records' ? 'Check all rows' : 'Check all files'}
            </Button>
            <Button disabled={!isReady} onClick={() => start(false)}>
              Import
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            Checking sends nothing. What was imported is anchored and cannot be taken back; its content can be
            erased.
          </Text>
          {vaults?.length === 0 && (
            <Alert color="yellow" icon={<Icon name="warning" />} py="xs">
              Everything belongs to a vault, and there is no active one. Create a vault first.
            </Alert>
          )}
        </Stack>
      </fieldset>
    </Paper>
  );
}
