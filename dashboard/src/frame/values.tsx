/** How single values are shown: addresses and hashes that can be copied, times, sizes and states. */
import type { MantineColor } from '@mantine/core';
import { type MouseEvent, useEffect, useState } from 'react';
import { useClock } from './clock.ts';
import { hint, showHint } from './hint.ts';
import { Icon } from './icons.tsx';

/** A hash or an address: its two ends, the whole value in a tooltip, and a button that copies it. */
export function Code({ value, label, whole = false }: { value: string; label: string; whole?: boolean }) {
  const short = whole || value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-6)}`;
  return (
    <span className="code">
      <span className={whole ? 'mono whole' : 'mono nowrap'} {...(short !== value && hint(value))}>
        {short}
      </span>
      <Copy value={value} label={`Copy ${label}`} />
    </span>
  );
}

const copiedMs = 1_000;

export function Copy({ value, label }: { value: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(event: MouseEvent<HTMLButtonElement>) {
    const button = event.currentTarget;
    // The element may be inside a link.
    event.stopPropagation();
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      showHint(button, 'The browser did not allow copying');
      return;
    }
    setCopied(true);
    showHint(button, 'Copied');
  }

  return (
    <button
      type="button"
      className="copy mantine-focus-auto"
      aria-label={copied ? 'Copied' : label}
      data-done={copied || undefined}
      onClick={copy}
      {...hint(label)}
    >
      <Icon name={copied ? 'done' : 'copy'} size={14} />
    </button>
  );
}

/** The relative time, with the exact time in a tooltip. */
export function Time({ at, exact = false }: { at: string | null; exact?: boolean }) {
  useClock();
  if (at === null) return <span className="dimmed">never</span>;
  const date = new Date(at);
  const full = `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <time dateTime={at} className="nowrap" {...hint(exact ? ago(date) : full)}>
      {exact ? full : ago(date)}
    </time>
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
  approved: 'green',
  open: 'blue',
  refused: 'red',
  pending: 'gray',
  batched: 'blue',
  submitted: 'blue',
  delivering: 'blue',
  running: 'blue',
  inactive: 'gray',
  disabled: 'gray',
  skipped: 'yellow',
  overdue: 'red',
  retired: 'red',
  'in tolerance': 'yellow',
  failing: 'red',
  failed: 'red',
  invalid: 'red',
  revoked: 'red',
};

export function Status({ value }: { value: string }) {
  const color = colors[value] ?? 'gray';
  const style = {
    background: `var(--mantine-color-${color}-light)`,
    color: `var(--mantine-color-${color}-light-color)`,
  };
  return (
    <span className="status" style={style}>
      {value}
    </span>
  );
}
