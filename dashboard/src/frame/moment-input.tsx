/** A date and a time of day in local time; passed on in UTC. */
import { TextInput } from '@mantine/core';

export interface MomentInputProps {
  label: string;
  description?: string;
  /** ISO 8601 in UTC; empty: none. */
  value: string;
  change(value: string): void;
  required?: boolean;
  /** Allows nothing later than now. */
  past?: boolean;
}

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export function MomentInput({ label, description, value, change, required = false, past }: MomentInputProps) {
  return (
    <TextInput
      type="datetime-local"
      step={1}
      label={label}
      description={`${description === undefined ? '' : `${description} `}Your time zone: ${zone}.`}
      required={required}
      value={toWall(value)}
      {...(past && { max: toWall(new Date(Date.now() + 60_000).toISOString()) })}
      onChange={(event) => change(fromWall(event.currentTarget.value))}
    />
  );
}

/** Rounded down to the second, so that it is in the past. */
export function justNow(): string {
  return new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
}

function toWall(value: string): string {
  if (value === '') return '';
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function fromWall(text: string): string {
  return text === '' ? '' : new Date(text).toISOString();
}
