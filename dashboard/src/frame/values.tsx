/** How single values are shown: addresses and hashes that can be copied, times, sizes and states. */
import { ActionIcon, Badge, CopyButton, Group, type MantineColor, Text, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Icon } from './icons.tsx';

/** A hash or an address: its two ends, the whole on hovering, and a button that copies it. */
export function Code({ value, label, whole = false }: { value: string; label: string; whole?: boolean }) {
  const short = whole || value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-6)}`;
  return (
    <Group gap={2} wrap="nowrap" display="inline-flex" maw="100%">
      <Tooltip label={<span className="mono">{value}</span>} disabled={short === value} multiline maw={560}>
        <Text
          component="span"
          className="mono"
          size="sm"
          style={whole ? { overflowWrap: 'anywhere' } : { whiteSpace: 'nowrap' }}
        >
          {short}
        </Text>
      </Tooltip>
      <Copy value={value} label={`Copy ${label}`} />
    </Group>
  );
}

export function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'sea' : 'gray'}
            size="sm"
            aria-label={copied ? 'Copied' : label}
            onClick={(event) => {
              event.stopPropagation();
              event.preventDefault();
              copy();
            }}
          >
            <Icon name={copied ? 'done' : 'copy'} size={14} />
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** How long ago, and the exact time on hovering. */
export function Time({ at, exact = false }: { at: string | null; exact?: boolean }) {
  useTicks(30_000);
  if (at === null)
    return (
      <Text span c="dimmed" size="sm">
        never
      </Text>
    );
  const date = new Date(at);
  const full = `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <Tooltip label={exact ? ago(date) : full}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {exact ? full : ago(date)}
      </time>
    </Tooltip>
  );
}

const units: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export function ago(date: Date, now = Date.now()): string {
  const seconds = (date.getTime() - now) / 1000;
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  if (!unit) return Math.abs(seconds) < 10 ? 'just now' : relative.format(Math.round(seconds), 'second');
  return relative.format(Math.round(seconds / unit[1]), unit[0]);
}

/** Renders anew from time to time. */
function useTicks(everyMs: number): void {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

const sizes = ['B', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(sizes.length - 1, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
  return `${(bytes / 1000 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${sizes[power]}`;
}

const colors: Record<string, MantineColor> = {
  active: 'green',
  enabled: 'green',
  confirmed: 'green',
  finalized: 'green',
  succeeded: 'green',
  completed: 'green',
  valid: 'green',
  pending: 'gray',
  batched: 'blue',
  submitted: 'blue',
  delivering: 'blue',
  running: 'blue',
  inactive: 'gray',
  disabled: 'gray',
  skipped: 'yellow',
  overdue: 'red',
  failing: 'red',
  failed: 'red',
  invalid: 'red',
  revoked: 'red',
};

export function Status({ value }: { value: string }) {
  return (
    <Badge variant="light" color={colors[value] ?? 'gray'} tt="none" radius="sm" style={{ flexShrink: 0 }}>
      {value}
    </Badge>
  );
}
