/** What to do first in a workspace that is still empty. */
import { Anchor, Button, Group, List, Paper, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMayWrite } from '../api/session.ts';

export function FirstSteps() {
  if (!useMayWrite()) return <NothingYet />;
  return (
    <Paper withBorder p="lg">
      <Title order={2} size="h4" mb="xs">
        Welcome
      </Title>
      <Text size="sm" mb="xs">
        Three steps to the first proof:
      </Text>
      <List type="ordered" size="sm" spacing={4} mb="md">
        <List.Item>Create a vault: everything that is anchored belongs to one.</List.Item>
        <List.Item>Add a file or a record to it. A second later it is on the chain.</List.Item>
        <List.Item>
          Download its proof and check it on the{' '}
          <Anchor href="/verify" size="sm" underline="always">
            public verification page
          </Anchor>
          , or on the command line without this service.
        </List.Item>
      </List>
      <Group gap="xs">
        <Button component={Link} to="/vaults">
          Go to vaults
        </Button>
        <Button component="a" href="/docs/" variant="default">
          Documentation
        </Button>
      </Group>
    </Paper>
  );
}

/** For users who may only read. */
function NothingYet() {
  return (
    <Paper withBorder p="lg">
      <Title order={2} size="h4" mb="xs">
        Welcome
      </Title>
      <Text size="sm">There is nothing here yet. You will see what members with write access add.</Text>
    </Paper>
  );
}
