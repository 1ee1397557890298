/** Selects one of the workers assigned to an asset. */
import { Anchor, Select, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { pathTo } from '../links.ts';
import { assetList } from './asset.ts';

export interface WorkerChoiceProps {
  assetId: string;
  value: string | null;
  choose(address: string | null): void;
}

export function WorkerChoice({ assetId, value, choose }: WorkerChoiceProps) {
  const { items } = useList<{ name: string; address: string }>({
    ...assetList(assetId, 'workers/'),
    limit: 1000,
  });
  if (items?.length === 0) {
    return (
      <Text size="sm">
        No workers are assigned to this asset yet.{' '}
        <Anchor
          component={Link}
          to={pathTo('/assets/$assetId', assetId)}
          search={{ tab: 'people' } as never}
          size="sm"
        >
          Assign workers
        </Anchor>{' '}
        first.
      </Text>
    );
  }
  return (
    <Select
      label="Worker"
      required
      searchable
      placeholder="Choose one"
      data={(items ?? []).map(({ name, address }) => ({
        value: address,
        label: `${name} (${address.slice(0, 8)}…)`,
      }))}
      value={value}
      onChange={choose}
    />
  );
}
