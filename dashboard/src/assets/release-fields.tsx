/** What the release certificate of an entry needs: approved data, work order, and what is released. */
import {
  ActionIcon,
  Button,
  Fieldset,
  Group,
  Select,
  SimpleGrid,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Icon } from '../frame/icons.tsx';

interface Row {
  key: string;
  reference: string;
  revision: string;
}

export interface ReleaseDraft {
  approvedData: Row[];
  workOrder: string;
  as: 'component' | 'aircraft' | null;
  work: string | null;
  remarks: string;
}

const mostRows = 20;
const newRow = (reference = '', revision = ''): Row => ({ key: crypto.randomUUID(), reference, revision });

interface Stored {
  approvedData?: Partial<Row> | Partial<Row>[];
  workOrder?: string;
  release?: { as: 'component' | 'aircraft'; work?: string; remarks?: string };
}

/** Takes these members out of the data of the entry that is corrected. */
export function takeRelease(data: Record<string, unknown>): {
  release: ReleaseDraft;
  rest: Record<string, unknown>;
} {
  const { approvedData = [], workOrder = '', release, ...rest } = data as Stored & Record<string, unknown>;
  const rows = Array.isArray(approvedData) ? approvedData : [approvedData];
  return {
    release: {
      approvedData: rows.map(({ reference, revision }) => newRow(reference, revision)),
      workOrder,
      as: release?.as ?? null,
      work: release?.work ?? null,
      remarks: release?.remarks ?? '',
    },
    rest,
  };
}

/** Without what was left empty. */
export function releaseToData({
  approvedData,
  workOrder,
  as,
  work,
  remarks,
}: ReleaseDraft): Record<string, unknown> {
  const named = approvedData.filter(({ reference }) => reference.trim() !== '');
  if (as === 'component' && work === null) throw new Error('Choose what most of the work was.');
  return {
    ...(named.length > 0 && {
      approvedData: named.map(({ reference, revision }) => ({
        reference,
        ...(revision.trim() !== '' && { revision }),
      })),
    }),
    ...(workOrder.trim() !== '' && { workOrder }),
    ...(as !== null && {
      release: { as, ...(as === 'component' && { work }), ...(remarks.trim() !== '' && { remarks }) },
    }),
  };
}

export function ReleaseFields({ value, change }: { value: ReleaseDraft; change(value: ReleaseDraft): void }) {
  const { approvedData, as } = value;
  const set = (part: Partial<ReleaseDraft>) => change({ ...value, ...part });
  const setRow = (key: string, part: Partial<Row>) =>
    set({ approvedData: approvedData.map((row) => (row.key === key ? { ...row, ...part } : row)) });
  return (
    <Fieldset
      legend={
        <Text span size="sm" fw={600}>
          Release certificate
        </Text>
      }
      p="sm"
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <Select
          label="What is released"
          placeholder="Not stated"
          description="Says which form the certificate has."
          clearable
          data={[
            { value: 'component', label: 'A component (EASA Form 1)' },
            { value: 'aircraft', label: 'An aircraft (certificate of release)' },
          ]}
          value={as}
          onChange={(chosen) => set({ as: chosen as ReleaseDraft['as'] })}
        />
        {as === 'component' && (
          <Select
            label="Status of the component"
            description="What most of the work was, for block 11."
            data={[
              { value: 'overhauled', label: 'Overhauled' },
              { value: 'repaired', label: 'Repaired' },
              { value: 'inspected', label: 'Inspected' },
              { value: 'tested', label: 'Tested' },
              { value: 'modified', label: 'Modified' },
            ]}
            value={value.work}
            onChange={(work) => set({ work })}
          />
        )}
        <TextInput
          label="Work order"
          description="Or contract, or invoice."
          maxLength={200}
          value={value.workOrder}
          onChange={(event) => set({ workOrder: event.currentTarget.value })}
        />
      </SimpleGrid>
      {approvedData.map((row, index) => (
        <Group key={row.key} gap="xs" mt="xs" align="flex-end" wrap="nowrap">
          <TextInput
            flex={2}
            label={`Approved data ${index + 1}`}
            placeholder="CMM 29-11-07"
            maxLength={200}
            value={row.reference}
            onChange={(event) => setRow(row.key, { reference: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            label={`Revision ${index + 1}`}
            maxLength={200}
            value={row.revision}
            onChange={(event) => setRow(row.key, { revision: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove approved data ${index + 1}`}
            onClick={() => set({ approvedData: approvedData.filter(({ key }) => key !== row.key) })}
          >
            <Icon name="bin" size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group mt="xs">
        <Button
          variant="light"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => set({ approvedData: [...approvedData, newRow()] })}
          disabled={approvedData.length >= mostRows}
        >
          Add approved data
        </Button>
      </Group>
      {as !== null && (
        <Textarea
          mt="xs"
          label="Remarks on the certificate"
          autosize
          maxRows={6}
          maxLength={2_000}
          value={value.remarks}
          onChange={(event) => set({ remarks: event.currentTarget.value })}
        />
      )}
    </Fieldset>
  );
}
