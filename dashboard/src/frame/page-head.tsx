/** The head of a page: where the user is, what the page is about, and its actions. */
import { Anchor, Box, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';

export interface PageHeadProps {
  title: string;
  /** One sentence. */
  about?: ReactNode;
  /** The page above this one. */
  back?: { to: string; label: string };
  actions?: ReactNode;
}

export function PageHead({ title, about, back, actions }: PageHeadProps) {
  useDocumentTitle(`${title} · Holdfast`);
  return (
    <Box mb="lg">
      {back && (
        <Anchor component={Link} to={back.to} size="sm" c="dimmed" mb={4} display="inline-flex">
          <Group gap={4}>
            <Icon name="left" size={14} />
            {back.label}
          </Group>
        </Anchor>
      )}
      <div className="page-head">
        <Box miw={0}>
          <Title order={1} size="h2" fz={{ base: 22, sm: 26 }} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm" mt={2} component="div">
              {about}
            </Text>
          )}
        </Box>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
    </Box>
  );
}
