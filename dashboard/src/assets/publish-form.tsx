/** Publishes a page of an asset: what it shows, until when, and at which addresses. */
import { Checkbox, Group, SimpleGrid, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormDialog } from '../frame/form.tsx';
import { LinkOnce } from '../frame/link-once.tsx';
import { MomentInput } from '../frame/moment-input.tsx';
import { useSaving } from '../frame/saving.ts';
import { assetUrl } from './asset.ts';

type NewPage = Schemas['NewPublishedPage'];
type AssetField = NewPage['show'][number];
type EntryField = NonNullable<NewPage['entries']>['show'][number];

const assetWords: Record<AssetField, string> = {
  name: 'Name',
  assetId: 'Id',
  serialNumber: 'Serial number',
  partNumber: 'Part number',
  usage: 'Usage',
  state: 'State',
  installedIn: 'Where it is installed',
  owner: 'Address of the owner',
  organisation: 'Name of the workspace',
};
const entryWords: Record<EntryField, string> = {
  type: 'Type',
  summary: 'Summary',
  performedAt: 'When it was done',
  recordedAt: 'When it was recorded',
  workers: 'Names of workers',
  data: 'Data',
  files: 'Names of files',
  fileContents: 'Files to download',
  release: 'Whether it is released',
  signoffs: 'Sign-offs',
  licences: 'Licences',
  proof: 'Proof of the time',
  documents: 'Whole documents',
};

export function wordsOf(fields: readonly (AssetField | EntryField)[]): string {
  const words: Record<string, string> = { ...assetWords, ...entryWords };
  return fields.map((field) => (words[field] ?? field).toLowerCase()).join(', ');
}

export function PublishForm({ assetId, close }: { assetId: string; close(): void }) {
  const [until, setUntil] = useState('');
  const [show, setShow] = useState<string[]>(['name', 'serialNumber', 'state']);
  const [withEntries, setWithEntries] = useState(false);
  const [types, setTypes] = useState<string[]>([]);
  const [entryShow, setEntryShow] = useState<string[]>([
    'type',
    'summary',
    'performedAt',
    'release',
    'proof',
  ]);
  const [gtin, setGtin] = useState('');
  const [serial, setSerial] = useState('');
  const [made, setMade] = useState<NewPage | null>(null);
  const saving = useSaving({
    nouns: ['assets'],
    send: () =>
      call<NewPage>('POST', assetUrl(assetId, 'published-pages/'), {
        body: {
          ...{ until, show },
          ...(withEntries && { entries: { ...(types.length > 0 && { types }), show: entryShow } }),
          ...((gtin !== '' || serial !== '') && {
            digitalLink: { gtin: gtin.trim(), serial: serial.trim() },
          }),
        },
      }),
    onDone: setMade,
  });
  if (made) {
    return (
      <LinkOnce
        title="The page is published"
        label="The link to the page"
        link={made.link}
        about={`Everyone who has the link sees the page until it ends. It cannot be shown again${made.digitalLink === null ? '.' : `; the page is also at ${made.digitalLink}`}`}
        close={close}
      />
    );
  }
  return (
    <FormDialog opened close={close} title="Publish a page" submitLabel="Publish" saving={saving} size="lg">
      <MomentInput label="Until" required value={until} change={setUntil} />
      <Choices label="Of the asset, it shows" words={assetWords} value={show} change={setShow} />
      <Checkbox
        label="It also shows maintenance entries"
        checked={withEntries}
        onChange={(event) => setWithEntries(event.currentTarget.checked)}
      />
      {withEntries && (
        <>
          <TagsInput
            label="Types of entries"
            description="Later entries of these types too. If empty: all entries."
            value={types}
            onChange={setTypes}
            maxTags={20}
          />
          <Choices
            label="Of each entry, it shows"
            words={entryWords}
            value={entryShow}
            change={(chosen) => setEntryShow(withNeeded(chosen))}
          />
          <Text size="xs" c="dimmed">
            With whole documents visitors can check every word and signature; a document cannot leave anything
            out. Corrected entries are always marked as corrected.
          </Text>
        </>
      )}
      <Group grow align="flex-start">
        <TextInput
          label="GTIN"
          description="Optional: a GS1 Digital Link for the page, which can be guessed."
          value={gtin}
          onChange={(event) => setGtin(event.currentTarget.value)}
        />
        <TextInput
          label="Serial number of the GTIN"
          description="Together they lead to this page."
          value={serial}
          onChange={(event) => setSerial(event.currentTarget.value)}
        />
      </Group>
    </FormDialog>
  );
}

/** What a choice shows as well is chosen with it, visibly. */
function withNeeded(chosen: string[]): string[] {
  const all = new Set(chosen);
  if (all.has('documents')) {
    for (const field of Object.keys(entryWords)) if (field !== 'fileContents') all.add(field);
  }
  if (all.has('fileContents')) all.add('files');
  if (all.has('licences')) all.add('signoffs');
  return [...all];
}

interface ChoicesProps {
  label: string;
  words: Record<string, string>;
  value: string[];
  change(value: string[]): void;
}

function Choices({ label, words, value, change }: ChoicesProps) {
  return (
    <Checkbox.Group label={label} value={value} onChange={change}>
      <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs" mt={4}>
        {Object.entries(words).map(([field, word]) => (
          <Checkbox key={field} value={field} label={word} size="sm" />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  );
}
