/** What a page shows while loading, when there is nothing, and on an error. */
import { Alert, Anchor, Button, Center, Group, Skeleton, Stack, Text, ThemeIcon } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/call.ts';
import { Icon, type IconName } from './icons.tsx';

export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Center py={64}>
      <Stack align="center" gap="xs" maw={460}>
        <ThemeIcon variant="light" size={52} radius="xl">
          <Icon name={icon} size={26} />
        </ThemeIcon>
        <Text fw={600} size="lg" ta="center">
          {title}
        </Text>
        {children !== undefined && (
          <Text c="dimmed" ta="center" size="sm" component="div" className="breaks">
            {children}
          </Text>
        )}
        {action && <Group mt="sm">{action}</Group>}
      </Stack>
    </Center>
  );
}

export function FailureState({ error, again }: { error: unknown; again?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  const docUrl = error instanceof ApiError ? error.docUrl : null;
  // A retry would not find it either.
  if (error instanceof ApiError && error.status === 404) {
    return (
      <EmptyState icon="search" title="Not found">
        {message} The link may be out of date, or the page may belong to another workspace.
      </EmptyState>
    );
  }
  return (
    <Alert color="red" icon={<Icon name="warning" />} title="This could not be loaded" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="breaks">
          {message}{' '}
          {docUrl !== null && (
            <Anchor href={docUrl} size="sm">
              What this means
            </Anchor>
          )}
        </Text>
        {again && (
          <Button
            size="xs"
            variant="outline"
            color="red"
            onClick={again}
            leftSection={<Icon name="again" size={14} />}
          >
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** As high as the content that follows, so that nothing jumps. */
export function LoadingRows({ rows = 6 }: { rows?: number }) {
  return (
    <Stack gap={10} role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={38} radius="sm" />
      ))}
    </Stack>
  );
}
