/** The imports that this browser knows, and can continue. */
import { Button, Table, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useMe } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { FailureState } from '../frame/states.tsx';
import { formatBytes, Time } from '../frame/values.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import { forgetImport, type KeptImport, listImports } from './journal.ts';
import { useRun } from './run.ts';

const shownAtFirst = 10;

export function EarlierImports() {
  const { workspaceId } = useMe();
  const client = useQueryClient();
  const run = useRun();
  const [all, setAll] = useState(false);
  const [forgetting, setForgetting] = useState<KeptImport | null>(null);
  const {
    data = [],
    error,
    refetch,
  } = useQuery({
    queryKey: ['imports', workspaceId],
    queryFn: () => listImports(workspaceId),
  });
  const phase = run?.phase;
  // Read again when an import begins or ends.
  useEffect(() => void client.invalidateQueries({ queryKey: ['imports'] }), [phase, client]);
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (data.length === 0) return null;
  const isRunning = run !== null && phase !== 'ended';
  // Its own line would be old.
  if (isRunning && !run.job.dryRun) return null;
  return (
    <section aria-labelledby="earlier-imports">
      <Title order={2} size="h4" mb={4} id="earlier-imports">
        Imports from this browser
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        To continue one that is not finished, choose the same file or folder again.
      </Text>
      <Table aria-label="Imports from this browser" className="stacked">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={200}>Vault</Table.Th>
            <Table.Th w={130}>Begun</Table.Th>
            <Table.Th w={260}>State</Table.Th>
            <Table.Th w={90} ta="right">
              Actions
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.slice(0, all ? data.length : shownAtFirst).map((kept) => (
            <Table.Tr key={kept.id}>
              <Table.Td>
                <Text size="sm" fw={550} className="breaks">
                  {kept.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {kept.hashOnly ? 'only hashes' : formatBytes(kept.totalBytes)}
                </Text>
              </Table.Td>
              <Table.Td>
                <VaultLink address={kept.vaultAddress} maxWidth={200} />
              </Table.Td>
              <Table.Td>
                <Time at={new Date(kept.begunAt).toISOString()} />
              </Table.Td>
              <Table.Td>
                <Text size="sm">{stateOf(kept)}</Text>
              </Table.Td>
              <Table.Td ta="right">
                <Button
                  size="xs"
                  variant="subtle"
                  color="gray"
                  disabled={isRunning}
                  aria-label={`Forget ${kept.name}`}
                  onClick={() => setForgetting(kept)}
                >
                  Forget
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {data.length > shownAtFirst && !all && (
        <Button variant="default" size="xs" mt="xs" onClick={() => setAll(true)}>
          Show all {data.length.toLocaleString('en')}
        </Button>
      )}
      {forgetting && (
        <Confirm
          title={`Forget the import of ${forgetting.name}?`}
          label="Forget"
          close={() => setForgetting(null)}
          act={async () => {
            await forgetImport(forgetting.id);
            await client.invalidateQueries({ queryKey: ['imports'] });
          }}
        >
          What was imported stays. But this browser no longer knows it: a day after it was sent, importing the
          same again would make it a second time.
        </Confirm>
      )}
    </section>
  );
}

function stateOf({ rows, complete, input }: KeptImport): string {
  const noun = input === null ? 'file' : 'row';
  const many = rows === 1 ? `1 ${noun}` : `${rows.toLocaleString('en')} ${noun}s`;
  return complete ? `Finished: ${many}` : `Not finished: ${many} so far`;
}
