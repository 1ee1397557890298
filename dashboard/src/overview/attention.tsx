/** What needs attention, with links; or that all is well. */
import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from '../frame/icons.tsx';
import { mostShown, type Notice } from './notices.ts';
import type { Stats } from './stats.ts';

const manyBlocks = 50;

export function Attention({ stats, notices }: { stats: Stats; notices: Notice[] }) {
  const items = [...itemsOf(stats), ...noticeItems(notices)];
  if (items.length === 0) {
    return (
      <Alert color="green" icon={<Icon name="done" />} py="xs">
        Nothing needs your attention.
      </Alert>
    );
  }
  return (
    <Alert color="yellow" icon={<Icon name="warning" />} title="Needs attention">
      <Stack gap={4}>
        {items.map(({ key, text }) => (
          <Text key={key} size="sm" component="div">
            {text}
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

function itemsOf({ waiting, chain }: Stats): { key: string; text: ReactNode }[] {
  const items: { key: string; text: ReactNode }[] = [];
  const add = (key: string, text: ReactNode) => items.push({ key, text });
  const endpoints = (label: string) => (
    <Anchor component={Link} to="/webhooks" size="sm" underline="always" c="inherit">
      {label}
    </Anchor>
  );
  if (waiting.failingEndpoints > 0) {
    add(
      'failing',
      <>
        {plural(waiting.failingEndpoints, 'endpoint')} failing: {endpoints('see webhooks')}.
      </>,
    );
  }
  if (waiting.disabledEndpoints > 0) {
    add(
      'disabled',
      <>
        {plural(waiting.disabledEndpoints, 'endpoint')} disabled after failing for too long or answering 410:{' '}
        {endpoints('see webhooks')}.
      </>,
    );
  }
  if (waiting.setAsideBatches > 0) {
    add(
      'aside',
      `${plural(waiting.setAsideBatches, 'batch', 'batches')} set aside. The operator of the service can find the reason with "holdfast chain status".`,
    );
  }
  if (!chain)
    add(
      'no-chain',
      'The service has not reached the chain yet: accepted requests stay pending until it does.',
    );
  if (
    chain?.headBlock != null &&
    chain.indexedBlock !== null &&
    chain.headBlock - chain.indexedBlock > manyBlocks
  ) {
    add('lag', `The index is ${chain.headBlock - chain.indexedBlock} blocks behind the chain.`);
  }
  return items;
}

/** Endpoints are counted above, with those that have only just begun to fail. */
function noticeItems(notices: Notice[]): { key: string; text: ReactNode }[] {
  const items = notices
    .slice(0, mostShown)
    .filter(({ type }) => type !== 'endpoint.failing')
    .map(({ id, title, advice, path }) => ({
      key: id,
      text: (
        <>
          {path === '/' ? (
            title
          ) : (
            <Anchor component={Link} to={path} size="sm" underline="always" c="inherit">
              {title}
            </Anchor>
          )}
          . {advice}
        </>
      ),
    }));
  return notices.length > mostShown
    ? [...items, { key: 'more', text: `More than ${mostShown} notices in all; the API lists them.` }]
    : items;
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? `${one} is` : `${many} are`}`;
}
