/** Creates or edits an endpoint; shows the outcome of the test event after saving. */
import {
  Button,
  Checkbox,
  Group,
  Modal,
  NumberInput,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { SecretOnce } from '../frame/secret.tsx';
import { type Endpoint, type SavedEndpoint, subscriptionChoices } from './endpoint.ts';
import { type SendingChange, SendingFields } from './sending-fields.tsx';
import { TestOutcomeNote } from './test-outcome.tsx';

const path = '/platform/webhooks/endpoints';

export function EndpointForm({ endpoint, close }: { endpoint?: Endpoint; close(): void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState(endpoint?.url ?? 'https://');
  const [types, setTypes] = useState<string[]>(endpoint?.eventTypes ?? []);
  const [filter, setFilter] = useState(endpoint?.filter ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [rateLimit, setRateLimit] = useState<number | string>(endpoint?.rateLimit ?? '');
  const [sending, setSending] = useState<SendingChange>({});
  const [enabled, setEnabled] = useState(endpoint?.enabled ?? true);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => {
      const body = {
        url,
        eventTypes: types,
        filter: filter.trim() === '' ? null : filter.trim(),
        description,
        enabled,
        rateLimit: typeof rateLimit === 'number' ? rateLimit : null,
        ...sending,
      };
      return endpoint
        ? call<SavedEndpoint>('PATCH', `${path}/${endpoint.id}`, { body })
        : call<SavedEndpoint>('POST', path, { body, headers: { 'idempotency-key': idempotencyKey } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (saving.data) return <Saved endpoint={saving.data} close={close} />;
  return (
    <FormDialog
      opened
      close={close}
      title={endpoint ? 'Change endpoint' : 'New endpoint'}
      submitLabel={endpoint ? 'Save and test' : 'Create and test'}
      saving={saving}
    >
      <TextInput
        label="URL"
        description="Public, https, accepts POST. A test event is sent when you save."
        type="url"
        required
        data-autofocus
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Checkbox.Group label="Event types" required value={types} onChange={setTypes}>
        <Stack gap={8} mt={6}>
          {subscriptionChoices(endpoint?.eventTypes ?? []).map(([type, about]) => (
            <Checkbox key={type} value={type} label={type} description={about} size="sm" />
          ))}
        </Stack>
      </Checkbox.Group>
      <Textarea
        label="Filter"
        description={
          <>
            Only events that fulfil it are sent, for example <code>data.version &gt; 1</code>
          </>
        }
        maxLength={2000}
        autosize
        minRows={1}
        maxRows={6}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      <TextInput
        label="Description"
        maxLength={500}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <NumberInput
        label="Requests per second"
        description="If empty, as fast as the receiver accepts them"
        min={1}
        allowDecimal={false}
        value={rateLimit}
        onChange={setRateLimit}
      />
      <SendingFields endpoint={endpoint} change={sending} onChange={setSending} />
      <Switch
        label="Enabled"
        description="While it is off, events are kept and can be replayed"
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

function Saved({ endpoint, close }: { endpoint: SavedEndpoint; close(): void }) {
  return (
    <Modal
      opened
      onClose={close}
      title="Endpoint saved"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        {endpoint.test && <TestOutcomeNote test={endpoint.test} />}
        {endpoint.secret !== undefined && (
          <SecretOnce
            label="Signing secret"
            value={endpoint.secret}
            about="The receiver checks signatures with it. It is also shown on the page of the endpoint."
          />
        )}
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
