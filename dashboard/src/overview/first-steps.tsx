/** What to do first in a workspace that is still empty. */
import { Button, Group, List, Paper, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/lists.ts';
import { type Vault, vaultList } from '../vaults/vault.ts';

export function FirstSteps() {
  const { items } = useList<Vault>(vaultList);
  if (!items || items.length > 0) return null;
  return (
    <Paper withBorder p="lg">
      <Title order={2} size="h4" mb="xs">
        Welcome
      </Title>
      <Text size="sm" mb="xs">
        Three steps to the first proof:
      </Text>
      <List type="ordered" size="sm" spacing={4} mb="md">
        <List.Item>Make a vault: everything that is anchored belongs to one.</List.Item>
        <List.Item>Add a file or a record to it. A second later it is on the chain.</List.Item>
        <List.Item>
          Download its proof and check it with the page at /verify, or without us on the command line.
        </List.Item>
      </List>
      <Group gap="xs">
        <Button component={Link} to="/vaults">
          Go to vaults
        </Button>
        <Button component="a" href="/docs" variant="default">
          API reference
        </Button>
      </Group>
    </Paper>
  );
}
