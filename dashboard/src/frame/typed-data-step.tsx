/** What somebody signs outside with their own key, and where the signature goes. */
import { Code as CodeBlock, Group, Text, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from './values.tsx';

export interface TypedDataStepProps {
  /** As eth_signTypedData_v4 takes it; other members are left out. */
  request: { domain: object; types: object; primaryType: string; message: object };
  signature: string;
  change(signature: string): void;
  /** A remark below the data. */
  children?: ReactNode;
}

export function TypedDataStep({ request, signature, change, children }: TypedDataStepProps) {
  const { domain, types, primaryType, message } = request;
  const json = JSON.stringify({ domain, types, primaryType, message }, null, 2);
  return (
    <>
      <div>
        <Group gap={4} justify="space-between">
          <Text size="sm" fw={500}>
            1. Sign this with <span className="mono">eth_signTypedData_v4</span>
          </Text>
          <Copy value={json} label="Copy the request" />
        </Group>
        <CodeBlock block mah={220} style={{ overflow: 'auto' }} tabIndex={0} aria-label="The request">
          {json}
        </CodeBlock>
        <Text size="xs" c="dimmed" mt={4}>
          {children}
        </Text>
      </div>
      <Textarea
        label="2. Signature"
        description="0x followed by 130 hexadecimal digits."
        required
        autosize
        minRows={2}
        data-autofocus
        value={signature}
        onChange={(event) => change(event.currentTarget.value)}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      />
    </>
  );
}
