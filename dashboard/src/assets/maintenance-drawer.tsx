/** Everything about one maintenance entry, in a drawer; its URL can be shared. */
import { Anchor, Code as CodeBlock, Drawer, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { anchorRows } from '../frame/anchor-details.tsx';
import { Details } from '../frame/details.tsx';
import { DownloadButton } from '../frame/download.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Code, Copy, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import type { Asset } from './asset.ts';
import { entryQuery, entryUrl, type Signoff, type WholeMaintenance } from './maintenance.ts';
import { CorrectionLinks, EntryActions } from './maintenance-card.tsx';
import type { MaintenanceStart } from './maintenance-form.tsx';
import { SignLinks } from './sign-links.tsx';

export interface MaintenanceDrawerProps {
  asset: Asset;
  maintenanceId: string;
  /** Opens another entry; null closes the drawer. */
  open(maintenanceId: string | null): void;
  start: ((start: MaintenanceStart) => void) | undefined;
}

export function MaintenanceDrawer({ asset, maintenanceId, open, start }: MaintenanceDrawerProps) {
  const { data: entry, error, refetch } = useQuery(entryQuery(asset.assetId, maintenanceId));
  return (
    <Drawer
      opened
      onClose={() => open(null)}
      position="right"
      size="lg"
      title={entry ? `Maintenance: ${entry.type}` : 'Maintenance'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error && !entry ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : entry ? (
        <Whole asset={asset} entry={entry} open={open} start={start} />
      ) : (
        <LoadingRows />
      )}
    </Drawer>
  );
}

interface WholeProps extends Omit<MaintenanceDrawerProps, 'maintenanceId'> {
  entry: WholeMaintenance;
}

function Whole({ asset, entry, open, start }: WholeProps) {
  const data = JSON.stringify(entry.data, null, 2);
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {entry.summary}
        </Title>
        <CorrectionLinks entry={entry} open={open} />
      </div>
      <EntryActions asset={asset} entry={entry} start={start} />
      <Details
        items={[
          ['Done', <Time key="performed" at={entry.performedAt} exact />],
          ['Recorded', <Time key="recorded" at={entry.recordedAt} exact />],
          [
            'By',
            <Anchor
              key="worker"
              component={Link}
              to={pathTo('/workers/$address', entry.workerAddress)}
              size="sm"
            >
              {entry.workerName}
            </Anchor>,
          ],
          ['Entry', <Code key="id" value={entry.maintenanceId} label="entry id" whole />],
          ['Hash', <Code key="hash" value={entry.maintenanceHash} label="hash" whole />],
          ...anchorRows(entry.status, entry.anchor),
        ]}
      />
      <section>
        <Title order={3} size="h5" mb="xs">
          Sign-offs
        </Title>
        {entry.signoffs.length === 0 ? (
          <Text size="sm" c="dimmed">
            Not signed yet. The order is performed, inspected, certified; inspected is optional.
          </Text>
        ) : (
          <Stack gap="xs">
            {entry.signoffs.map((signoff) => (
              <SignoffPanel key={signoff.number} asset={asset} entry={entry} signoff={signoff} />
            ))}
          </Stack>
        )}
      </section>
      <SignLinks assetId={asset.assetId} maintenanceId={entry.maintenanceId} />
      {entry.files.length > 0 && (
        <section>
          <Title order={3} size="h5" mb="xs">
            Files
          </Title>
          <Stack gap={4}>
            {entry.files.map(({ fileId, name, version, contentHash }) => (
              <Group key={fileId} gap="xs" justify="space-between" wrap="nowrap">
                <Anchor component={Link} to={pathTo('/files/$fileId', fileId)} size="sm" className="cut">
                  {name}, version {version}
                </Anchor>
                <Code value={contentHash} label="hash" />
              </Group>
            ))}
          </Stack>
        </section>
      )}
      {data !== '{}' && (
        <section>
          <Group gap={4} mb="xs">
            <Title order={3} size="h5">
              Data
            </Title>
            <Copy value={data} label="Copy data" />
          </Group>
          <CodeBlock block>{data}</CodeBlock>
        </section>
      )}
      <Group gap="xs">
        <Text size="xs" c="dimmed" flex={1} miw={200}>
          To check the proof elsewhere, you also need the document that was hashed.
        </Text>
        <Copy value={JSON.stringify(entry.entry)} label="Copy the document" />
      </Group>
    </Stack>
  );
}

function SignoffPanel({ asset, entry, signoff }: Pick<WholeProps, 'asset' | 'entry'> & { signoff: Signoff }) {
  const { number, role, workerName, workerAddress, licence, signedAt, receivedAt } = signoff;
  const { statement, signature, status, anchor } = signoff;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Text fw={550} size="sm">
          {role} by{' '}
          <Anchor component={Link} to={pathTo('/workers/$address', workerAddress)} size="sm">
            {workerName}
          </Anchor>
        </Text>
        <Status value={status} />
      </Group>
      <Text size="sm" c="dimmed" component="div">
        <Time at={signedAt} exact />
        {receivedAt !== null && receivedAt !== signedAt && (
          <>
            , received <Time at={receivedAt} exact />
          </>
        )}
        {licence && (
          <div>
            Licence {licence.number} for {licence.scope}, {licence.authority}
            {licence.expiresAt !== null && `, valid until ${licence.expiresAt.slice(0, 10)}`}
          </div>
        )}
        <Group gap="xs" justify="space-between" mt={4}>
          <span>
            {statement} Signature <Code value={signature} label="signature" />
          </span>
          <DownloadButton
            label="Proof"
            path={entryUrl(asset.assetId, entry.maintenanceId, `signoffs/${number}/proof/`)}
            query={{ viewerAddress: asset.vaultAddress }}
            fileName={`proof-${entry.maintenanceId}-signoff-${number}.json`}
            disabled={anchor === null}
            size="compact-xs"
          />
        </Group>
      </Text>
    </Paper>
  );
}
