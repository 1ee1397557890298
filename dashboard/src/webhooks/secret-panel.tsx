/** The signing secret: shown on demand, and rotated with a day of overlap. */
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { Confirm } from '../frame/confirm.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { Copy } from '../frame/values.tsx';

export function SecretPanel({ endpointId }: { endpointId: string }) {
  const client = useQueryClient();
  const [rotating, rotate] = useDisclosure();
  const path = `/platform/webhooks/endpoints/${endpointId}`;
  const revealing = useMutation({ mutationFn: () => call<{ secret: string }>('GET', `${path}/secret`) });
  return (
    <Stack gap="md" maw={640} align="flex-start">
      <Text size="sm">
        Every delivery is signed with this secret. The receiver computes the HMAC-SHA256 of the raw body with
        it and compares it to the signature header; the documentation has examples.
      </Text>
      {revealing.data ? (
        <Group gap={4} wrap="nowrap" w="100%">
          <Code
            block
            aria-label="Signing secret"
            style={{ flex: 1, whiteSpace: 'normal', overflowWrap: 'anywhere' }}
          >
            {revealing.data.secret}
          </Code>
          <Copy value={revealing.data.secret} label="Copy signing secret" />
        </Group>
      ) : (
        <Code block w="100%" aria-label="Hidden signing secret">
          whsec_••••••••••••••••••••••••••••••••
        </Code>
      )}
      <Group gap="xs">
        {!revealing.data && (
          <Button
            variant="default"
            onClick={() => revealing.mutate()}
            loading={revealing.isPending}
            leftSection={<Icon name="eye" size={16} />}
          >
            Show secret
          </Button>
        )}
        <Button variant="default" onClick={rotate.open}>
          Rotate
        </Button>
      </Group>
      {rotating && (
        <Confirm
          title="Rotate the signing secret?"
          label="Rotate"
          close={rotate.close}
          act={async () => {
            await call('POST', `${path}/rotate-secret`);
            await client.invalidateQueries({ queryKey: ['webhooks'] });
            revealing.mutate();
            showDone('The new secret is now in use.');
          }}
        >
          The new secret signs at once. For 24 hours the old one also signs the webhook-signature header, so
          that receivers of Standard Webhooks can switch without a gap; the sha256= header switches at once.
        </Confirm>
      )}
    </Stack>
  );
}
