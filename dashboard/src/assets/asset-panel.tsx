/** A part of a tab of an asset: its title, what it is about, and a button. */
import { Button, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../frame/icons.tsx';

interface PanelProps {
  title: string;
  about: string;
  action: string | false;
  act(): void;
  children: ReactNode;
}

export function Panel({ title, about, action, act, children }: PanelProps) {
  return (
    <section>
      <Group justify="space-between" mb="xs" align="flex-end">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text c="dimmed" size="sm">
            {about}
          </Text>
        </div>
        {action !== false && (
          <Button size="xs" variant="default" onClick={act} leftSection={<Icon name="plus" size={14} />}>
            {action}
          </Button>
        )}
      </Group>
      {children}
    </section>
  );
}

export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm" py="sm">
      {children}
    </Text>
  );
}
