/** The history of a file, oldest first: versions, transfers and validations with the state of their anchors. */
import { Button, Center, Group, Text, Timeline } from '@mantine/core';
import type { ReactNode } from 'react';
import type { List } from '../api/lists.ts';
import { Icon, type IconName } from '../frame/icons.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Code, Status, Time } from '../frame/values.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import type { HistoryItem } from './file.ts';

export function FileHistory({
  list: { items, error, again, more, loadingMore },
}: {
  list: List<HistoryItem>;
}) {
  if (error && !items) return <FailureState error={error} again={again} />;
  if (!items) return <LoadingRows />;
  return (
    <>
      <Timeline bulletSize={30} lineWidth={2} active={items.length} aria-label="History">
        {items.map((item) => (
          <Timeline.Item
            key={`${item.type} ${item.id ?? item.version}`}
            bullet={<Icon name={icons[item.type]} size={16} />}
            color={colorOf(item)}
            title={<Title item={item} />}
            lineVariant={item.anchor === null ? 'dashed' : 'solid'}
          >
            <About item={item} />
          </Timeline.Item>
        ))}
      </Timeline>
      {more && (
        <Center mt="md">
          <Button variant="default" size="xs" onClick={more} loading={loadingMore}>
            Load more
          </Button>
        </Center>
      )}
    </>
  );
}

const icons: Record<HistoryItem['type'], IconName> = {
  version: 'file',
  transfer: 'transfer',
  validation: 'verify',
};

function colorOf({ type, result, anchor }: HistoryItem): string {
  if (type === 'validation' && result !== null) return result === 'valid' ? 'green' : 'red';
  return anchor === null ? 'gray' : 'sea';
}

function Title({ item }: { item: HistoryItem }): ReactNode {
  const { type, version, vaultAddress, toVaultAddress, result, anchor } = item;
  const vault = <VaultLink address={vaultAddress} inText />;
  if (type === 'version') {
    return (
      <Text fw={550} size="sm">
        {version === 1 ? 'Created in' : `Version ${version} added in`} {vault}
      </Text>
    );
  }
  if (type === 'transfer') {
    return (
      <Text fw={550} size="sm">
        {anchor === null ? 'Being transferred from' : 'Transferred from'} {vault} to{' '}
        <VaultLink address={toVaultAddress ?? ''} inText />
      </Text>
    );
  }
  return (
    <Text fw={550} size="sm">
      Version {version} {result === null ? 'is being validated' : `validated: ${result}`}
    </Text>
  );
}

function About({ item }: { item: HistoryItem }) {
  const { type, at, name, contentHash, status, anchor } = item;
  return (
    <Text component="div" size="sm" c="dimmed">
      <Group gap={8}>
        <Time at={at} exact />
        <Status value={status} />
      </Group>
      {name !== null && <div style={{ overflowWrap: 'anywhere' }}>{name}</div>}
      <Group gap="0 16px">
        {type !== 'transfer' && (
          <span>
            {type === 'validation' ? 'Presented' : 'Hash'} <Code value={contentHash} label="hash" />
          </span>
        )}
        {anchor && (
          <span>
            Transaction <Code value={anchor.transactionHash} label="transaction hash" />
          </span>
        )}
      </Group>
    </Text>
  );
}
