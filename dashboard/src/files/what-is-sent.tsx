/** Whether files are sent, or only their hashes. */
import { Input, SegmentedControl, Text } from '@mantine/core';

export interface WhatIsSentProps {
  hashOnly: boolean;
  choose(hashOnly: boolean): void;
  disabled: boolean;
  /** Of both choices. */
  labels?: [bytes: string, hash: string];
}

export function WhatIsSent({
  hashOnly,
  choose,
  disabled,
  labels = ['The file', 'Only its hash'],
}: WhatIsSentProps) {
  return (
    <div>
      <Input.Label labelElement="div" id="what-is-sent">
        What to send
      </Input.Label>
      <SegmentedControl
        fullWidth
        disabled={disabled}
        aria-labelledby="what-is-sent"
        data={[
          { value: 'bytes', label: labels[0] },
          { value: 'hash', label: labels[1] },
        ]}
        value={hashOnly ? 'hash' : 'bytes'}
        onChange={(value) => choose(value === 'hash')}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {hashOnly
          ? 'What you choose is hashed in this browser and its bytes stay here. Keep it: nothing can be checked without it.'
          : 'Content is stored encrypted, and can be downloaded again.'}
      </Text>
    </div>
  );
}
