/** A secret that is shown only once, with a button that copies it. */
import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { Icon } from './icons.tsx';

export function SecretOnce({ label, value, about }: { label: string; value: string; about: string }) {
  return (
    <Alert color="yellow" icon={<Icon name="key" />} title={label}>
      <Stack gap="xs">
        <Text size="sm">{about}</Text>
        <Group gap="xs">
          <Code
            block
            style={{ overflowWrap: 'anywhere', whiteSpace: 'normal', flex: '1 1 220px' }}
            aria-label={label}
          >
            {value}
          </Code>
          <CopyButton value={value}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                variant="default"
                onClick={copy}
                leftSection={<Icon name={copied ? 'done' : 'copy'} size={14} />}
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  );
}
