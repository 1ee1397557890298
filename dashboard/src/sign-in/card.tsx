/** The card in the middle of the sign-in and join pages. */
import { Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

export function SignInCard({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  useDocumentTitle(`${title} · Holdfast`);
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={420}>
        <Stack gap="md">
          <Group gap={10}>
            <img src="/favicon.svg" alt="" width={32} height={32} />
            <Text fw={700} size="lg">
              Holdfast
            </Text>
          </Group>
          <div>
            <Title order={1} size="h3">
              {title}
            </Title>
            {about !== undefined && (
              <Text c="dimmed" size="sm" mt={4} component="div">
                {about}
              </Text>
            )}
          </div>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
