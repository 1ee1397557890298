/** A field for a JSON object, and its parser. */
import { JsonInput } from '@mantine/core';

export interface JsonFieldProps {
  label: string;
  description: string;
  value: string;
  change(value: string): void;
}

export function JsonField({ label, description, value, change }: JsonFieldProps) {
  return (
    <JsonInput
      label={label}
      description={description}
      autosize
      minRows={3}
      maxRows={14}
      formatOnBlur
      spellCheck={false}
      validationError="This is not JSON"
      value={value}
      onChange={change}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
    />
  );
}

/** Empty text is an empty object; throws when the text is not an object. */
export function readObject(text: string, label: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === '' ? '{}' : text);
  } catch {
    throw new Error(`${label} is not JSON. Fix it, or leave it empty.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${label} must be a JSON object: { … }.`);
  }
  return value as Record<string, unknown>;
}
