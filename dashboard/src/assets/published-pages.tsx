/** The pages of an asset that are published for outsiders. */
import { Anchor, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayWrite } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { showDone } from '../frame/notice.ts';
import { Time } from '../frame/values.tsx';
import { type Asset, assetList, assetUrl } from './asset.ts';
import { Nothing, Panel } from './asset-panel.tsx';
import { PublishForm, wordsOf } from './publish-form.tsx';

type PublishedPage = Schemas['PublishedPage'];

export function PublishedPages({ asset: { assetId } }: { asset: Asset }) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const list = useList<PublishedPage>(assetList(assetId, 'published-pages/'));
  const [publishing, publish] = useDisclosure();
  const [ending, setEnding] = useState<PublishedPage | null>(null);
  const columns: Column<PublishedPage>[] = [
    { title: 'Shows', cell: (page) => <Shown page={page} /> },
    { title: 'Published', cell: ({ createdAt }) => <Time at={createdAt} />, width: 180, wide: true },
    { title: 'Ends', cell: ({ until }) => <Time at={until} />, width: 180 },
  ];
  if (mayWrite) {
    columns.push({
      title: 'Actions',
      width: 120,
      align: 'right',
      cell: (page) => (
        <Button
          size="compact-xs"
          variant="subtle"
          color="red"
          aria-label={`Revoke the page ${page.id}`}
          onClick={() => setEnding(page)}
        >
          Revoke
        </Button>
      ),
    });
  }
  return (
    <Panel
      title="Published pages"
      about="For everyone who has the link: a page that shows only what you choose, until a date or until the asset is transferred."
      action={mayWrite && 'Publish a page'}
      act={publish.open}
    >
      <DataTable
        list={list}
        label="Published pages"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Nothing>No page of this asset is published.</Nothing>}
      />
      {publishing && <PublishForm assetId={assetId} close={publish.close} />}
      {ending && (
        <Confirm
          title="Revoke the page"
          label="Revoke"
          close={() => setEnding(null)}
          act={async () => {
            await call('DELETE', assetUrl(assetId, `published-pages/${ending.id}/`));
            await client.invalidateQueries({ queryKey: ['assets'] });
            showDone('The page was revoked.');
          }}
        >
          From the next request on, its link and its QR code lead nowhere.
        </Confirm>
      )}
    </Panel>
  );
}

function Shown({ page: { show, entries, digitalLink } }: { page: PublishedPage }) {
  return (
    <>
      <Text size="sm">{show.length === 0 ? 'Nothing of the asset itself' : wordsOf(show)}</Text>
      {entries && (
        <Text size="xs" c="dimmed">
          {entries.maintenanceIds
            ? `${entries.maintenanceIds.length} chosen entries`
            : entries.types
              ? `Entries of type ${entries.types.join(', ')}`
              : 'All entries'}
          {entries.show.length > 0 && `: ${wordsOf(entries.show)}`}
        </Text>
      )}
      {digitalLink && (
        <Anchor href={digitalLink} size="xs" target="_blank" rel="noreferrer">
          {digitalLink}
        </Anchor>
      )}
    </>
  );
}
