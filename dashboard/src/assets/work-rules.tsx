/** The rules that say what sign-offs need, by the type of work: those of the workspace, or those of an asset. */
import {
  Badge,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMe } from '../api/session.ts';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { assetUrl } from './asset.ts';

type Rules = Schemas['WorkRules'];
type Rule = Rules['rules'][number];
type Row = Omit<Rule, 'categories'> & { key: string; categories: string };

const mostRules = 200;
const everyWork = '*';

/** `assetId`: null for the rules of the workspace. */
const urlOf = (assetId: string | null) =>
  assetId === null ? '/damc/signoffs/rules/work/' : assetUrl(assetId, 'rules/');

const rulesQuery = (assetId: string | null) =>
  queryOptions({
    queryKey: ['work-rules', assetId],
    queryFn: () => call<Rules>('GET', urlOf(assetId)),
  });

export function WorkRules({ assetId }: { assetId: string | null }) {
  const { data, error, refetch } = useQuery(rulesQuery(assetId));
  const [editing, edit] = useDisclosure();
  const { role } = useMe();
  if (error && !data) return <FailureState error={error} again={() => void refetch()} />;
  if (!data) return <LoadingRows rows={2} />;
  const { rules } = data;
  return (
    <Stack gap="xs" align="stretch">
      {rules.length === 0 ? (
        <Text size="sm">
          {assetId === null
            ? 'There are no rules: each type of work needs a licence whose scope has the same name.'
            : 'This asset has no rules of its own: those of the workspace count.'}
        </Text>
      ) : (
        rules.map((rule) => <RulePanel key={rule.type} rule={rule} />)
      )}
      {role === 'owner' || role === 'admin' ? (
        <Button variant="default" onClick={edit.open} style={{ alignSelf: 'flex-start' }}>
          Edit rules
        </Button>
      ) : (
        <Text size="sm" c="dimmed">
          Only admins change rules.
        </Text>
      )}
      {editing && <WorkRulesForm assetId={assetId} saved={rules} close={edit.close} />}
    </Stack>
  );
}

function RulePanel({ rule: { type, scope, categories, critical } }: { rule: Rule }) {
  return (
    <Paper withBorder p="sm" component="article" aria-label={type}>
      <Group gap={6}>
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {type === everyWork ? 'All other work' : type}
        </Text>
        {critical && (
          <Badge variant="light" color="red" radius="sm" tt="none">
            critical
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        Licence for {scope}
        {categories.length > 0 && `, category ${categories.join(' or ')}`}
        {critical && '; inspected by somebody who neither performed nor certifies it'}
      </Text>
    </Paper>
  );
}

const newRow = (rule?: Rule): Row => ({
  type: '',
  scope: '',
  critical: false,
  ...rule,
  categories: rule?.categories.join(', ') ?? '',
  key: crypto.randomUUID(),
});

function WorkRulesForm({ assetId, saved, close }: { assetId: string | null; saved: Rule[]; close(): void }) {
  const client = useQueryClient();
  const [rows, setRows] = useState<Row[]>(() => (saved.length === 0 ? [newRow()] : saved.map(newRow)));
  const change = (key: string, part: Partial<Row>) =>
    setRows((before) => before.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const saving = useSaving({
    nouns: ['work-rules'],
    send: () =>
      call<Rules>('PUT', urlOf(assetId), {
        body: {
          rules: rows.map(({ key, categories, ...rule }) => ({
            ...rule,
            categories: readCategories(categories),
          })),
        },
      }),
    onDone(made) {
      client.setQueryData(rulesQuery(assetId).queryKey, made);
      showDone('The rules were saved. They count for entries that are recorded from now on.');
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={assetId === null ? 'Rules for types of work' : 'Rules of this asset'}
      submitLabel="Save rules"
      saving={saving}
      size="lg"
    >
      <Text size="sm" c="dimmed">
        A rule says which licence is needed to inspect and certify work of a type. {everyWork} as the type
        stands for all work without a rule of its own. Rules of an asset come before those of the workspace.
        Entries that exist keep the rule under which they were recorded.
      </Text>
      {rows.map((row, index) => (
        <RuleFields
          key={row.key}
          row={row}
          title={`Rule ${index + 1}`}
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
          disabled={rows.length >= mostRules}
        >
          Add a rule
        </Button>
      </Group>
    </FormDialog>
  );
}

function RuleFields({
  row,
  title,
  change,
  remove,
}: {
  row: Row;
  title: string;
  change(part: Partial<Row>): void;
  remove(): void;
}) {
  return (
    <Fieldset
      legend={
        <Text span size="sm" fw={600}>
          {title}
        </Text>
      }
      p="sm"
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <TextInput
          label="Type of work"
          placeholder="such as engine change, or *"
          required
          maxLength={100}
          value={row.type}
          onChange={(event) => change({ type: event.currentTarget.value })}
        />
        <TextInput
          label="Licence scope"
          placeholder="such as powerplant"
          required
          maxLength={200}
          value={row.scope}
          onChange={(event) => change({ scope: event.currentTarget.value })}
        />
      </SimpleGrid>
      <TextInput
        mt="xs"
        label="Categories"
        description="The licence has one of them, such as B1, C. Empty: any category."
        value={row.categories}
        onChange={(event) => change({ categories: event.currentTarget.value })}
      />
      <Checkbox
        mt="sm"
        label="Critical"
        description="An independent person inspects the work: neither a performer nor the one who certifies it."
        checked={row.critical}
        onChange={(event) => change({ critical: event.currentTarget.checked })}
      />
      <Group justify="flex-end" mt="xs">
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          aria-label={`Remove ${title.toLowerCase()}`}
          onClick={remove}
        >
          Remove
        </Button>
      </Group>
    </Fieldset>
  );
}

function readCategories(text: string): string[] {
  const named = text.split(',').map((category) => category.trim());
  return [...new Set(named.filter((category) => category !== ''))];
}
