/** Edits the licences of a worker, which are saved together. */
import { ActionIcon, Button, Fieldset, Group, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { isExpired, type Licence, type Worker, workerUrl } from './worker.ts';

type Row = Licence & { key: string };

const newRow = (licence?: Licence): Row => ({
  ...(licence ?? {
    ...{ category: null, scope: '', number: '', authority: '' },
    ...{ validFrom: null, expiresAt: null, suspendedAt: null },
  }),
  key: crypto.randomUUID(),
});

export function LicencesForm({ worker, close }: { worker: Worker; close(): void }) {
  const [rows, setRows] = useState<Row[]>(() =>
    worker.licences.length === 0 ? [newRow()] : worker.licences.map(newRow),
  );
  const change = (key: string, part: Partial<Licence>) =>
    setRows((before) => before.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const saving = useSaving({
    nouns: ['workers'],
    send: () =>
      call<Worker>('PATCH', workerUrl(worker.address), {
        body: { licences: rows.map(({ key, ...licence }) => licence) },
      }),
    onDone() {
      showDone('The licences were saved.');
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={`Licences of ${worker.name}`}
      submitLabel="Save licences"
      saving={saving}
      size="lg"
    >
      <Text size="sm" c="dimmed">
        A licence covers work in its own scope and in narrower ones: “engine” covers “engine/borescope”, and *
        covers everything.
      </Text>
      {rows.map((row, index) => (
        <LicenceFields
          key={row.key}
          row={row}
          title={`Licence ${index + 1}${isExpired(row) ? ', expired' : ''}`}
          change={(part) => change(row.key, part)}
          remove={() => setRows((before) => before.filter(({ key }) => key !== row.key))}
        />
      ))}
      <Group>
        <Button
          variant="light"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => setRows((before) => [...before, newRow()])}
          disabled={rows.length >= 100}
        >
          Add a licence
        </Button>
      </Group>
    </FormDialog>
  );
}

interface LicenceFieldsProps {
  row: Row;
  title: string;
  change(part: Partial<Licence>): void;
  remove(): void;
}

function LicenceFields({ row, title, change, remove }: LicenceFieldsProps) {
  const expired = isExpired(row);
  return (
    <Fieldset
      legend={
        <Text span size="sm" fw={600} {...(expired && { c: 'red' })}>
          {title}
        </Text>
      }
      p="sm"
      pos="relative"
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <TextInput
          label="Scope"
          required
          maxLength={200}
          value={row.scope}
          onChange={(event) => change({ scope: event.currentTarget.value })}
        />
        <TextInput
          label="Number"
          required
          maxLength={200}
          value={row.number}
          onChange={(event) => change({ number: event.currentTarget.value })}
        />
        <TextInput
          label="Issuer"
          required
          maxLength={200}
          value={row.authority}
          onChange={(event) => change({ authority: event.currentTarget.value })}
        />
        <TextInput
          label="Category"
          placeholder="such as B1.1; empty for none"
          maxLength={50}
          value={row.category ?? ''}
          onChange={(event) => change({ category: event.currentTarget.value || null })}
        />
        <TextInput
          type="date"
          label="First valid day (UTC)"
          value={row.validFrom?.slice(0, 10) ?? ''}
          onChange={(event) => change({ validFrom: startOfDay(event.currentTarget.value) })}
        />
        <TextInput
          type="date"
          label="Suspended from (UTC)"
          value={row.suspendedAt?.slice(0, 10) ?? ''}
          onChange={(event) => change({ suspendedAt: startOfDay(event.currentTarget.value) })}
        />
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            type="date"
            label="Last valid day (UTC)"
            flex={1}
            value={lastDayOf(row.expiresAt)}
            onChange={(event) => change({ expiresAt: endOfDay(event.currentTarget.value) })}
          />
          <ActionIcon variant="subtle" color="red" size={36} aria-label={`Remove ${title}`} onClick={remove}>
            <Icon name="bin" />
          </ActionIcon>
        </Group>
      </SimpleGrid>
    </Fieldset>
  );
}

const dayMs = 24 * 60 * 60 * 1000;

/** The last day on which the licence is valid. */
function lastDayOf(expiresAt: string | null): string {
  return expiresAt === null ? '' : new Date(Date.parse(expiresAt) - 1).toISOString().slice(0, 10);
}

function startOfDay(day: string): string | null {
  return day === '' ? null : `${day}T00:00:00.000Z`;
}

function endOfDay(day: string): string | null {
  return day === '' ? null : new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString();
}
