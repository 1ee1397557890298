/** The fields of an endpoint's form that say how its requests are made: order, key pair, own headers, client certificate. */
import { Button, Code, Group, Stack, Switch, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Endpoint } from './endpoint.ts';

/** What was changed; what is absent stays as it is. */
export interface SendingChange {
  ordering?: 'none' | 'resource';
  ed25519?: boolean;
  headers?: { name: string; value: string }[];
  clientCertificate?: { certificate: string; privateKey: string } | null;
}

interface SendingFieldsProps {
  endpoint: Endpoint | undefined;
  change: SendingChange;
  onChange(change: SendingChange): void;
}

const monospace = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } };

export function SendingFields({ endpoint, change, onChange }: SendingFieldsProps) {
  return (
    <>
      <Switch
        label="In order"
        description="Events about the same resource are sent one after the other; one that fails holds up only those"
        checked={(change.ordering ?? endpoint?.ordering) === 'resource'}
        onChange={(event) =>
          onChange({ ...change, ordering: event.currentTarget.checked ? 'resource' : 'none' })
        }
      />
      <Switch
        label="Sign with a key pair too"
        description="Adds an Ed25519 signature (v1a), which the receiver checks with a public key"
        checked={change.ed25519 ?? endpoint?.ed25519 ?? false}
        onChange={(event) => onChange({ ...change, ed25519: event.currentTarget.checked })}
      />
      <HeadersField endpoint={endpoint} change={change} onChange={onChange} />
      <CertificateField endpoint={endpoint} change={change} onChange={onChange} />
    </>
  );
}

function HeadersField({ endpoint, change, onChange }: SendingFieldsProps) {
  const [text, setText] = useState('');
  const names = endpoint?.headerNames ?? [];
  const [replacing, setReplacing] = useState(names.length === 0);
  if (!replacing) {
    return (
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={500}>
          Own headers
        </Text>
        <Text size="sm">{names.join(', ')}</Text>
        <Button
          variant="default"
          size="xs"
          onClick={() => {
            setReplacing(true);
            onChange({ ...change, headers: [] });
          }}
        >
          Replace or remove
        </Button>
      </Stack>
    );
  }
  return (
    <Textarea
      label="Own headers"
      description="Sent with each request, one “name: value” a line. The values are kept as secrets."
      autosize
      minRows={1}
      maxRows={6}
      spellCheck={false}
      styles={monospace}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange({ ...change, headers: toHeaders(event.currentTarget.value) });
      }}
    />
  );
}

/** A line without a colon is a name without a value, which the service refuses. */
function toHeaders(text: string): { name: string; value: string }[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...value] = line.split(':');
      return { name: name.trim(), value: value.join(':').trim() };
    });
}

function CertificateField({ endpoint, change, onChange }: SendingFieldsProps) {
  const present = endpoint?.clientCertificate ?? null;
  const { clientCertificate: given } = change;
  if (given === undefined || given === null) {
    return (
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={500}>
          Client certificate
        </Text>
        <Text size="sm">{present === null || given === null ? 'None' : <Code>{present.subject}</Code>}</Text>
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            onClick={() => onChange({ ...change, clientCertificate: { certificate: '', privateKey: '' } })}
          >
            {present === null ? 'Add' : 'Replace'}
          </Button>
          {present !== null && given !== null && (
            <Button
              variant="default"
              size="xs"
              onClick={() => onChange({ ...change, clientCertificate: null })}
            >
              Remove
            </Button>
          )}
        </Group>
      </Stack>
    );
  }
  return (
    <>
      <Textarea
        label="Client certificate"
        description="In PEM; shown to a receiver that asks for one"
        required
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        styles={monospace}
        value={given.certificate}
        onChange={(event) =>
          onChange({ ...change, clientCertificate: { ...given, certificate: event.currentTarget.value } })
        }
      />
      <Textarea
        label="Private key of the certificate"
        description="In PEM, not encrypted; it is never shown again"
        required
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        styles={monospace}
        value={given.privateKey}
        onChange={(event) =>
          onChange({ ...change, clientCertificate: { ...given, privateKey: event.currentTarget.value } })
        }
      />
    </>
  );
}
