/** The links by which an entry can still be signed, for whoever lost one or changed their mind. */
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayWrite } from '../api/session.ts';
import { Confirm } from '../frame/confirm.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState } from '../frame/states.tsx';
import { Time } from '../frame/values.tsx';
import { assetList } from './asset.ts';

type SignLink = Schemas['SignLink'];

/** The first element of the key of its query. */
export const linksNoun = 'sign-links';

const shownAtFirst = 20;

export function SignLinks({ assetId, maintenanceId }: { assetId: string; maintenanceId: string }) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const [withdrawing, setWithdrawing] = useState<SignLink | null>(null);
  const { items, error, more, loadingMore, again } = useList<SignLink>({
    ...assetList(assetId, `maintenances/${maintenanceId}/signoffs/requests/`),
    noun: linksNoun,
    limit: shownAtFirst,
  });
  if (error && !items) return <FailureState error={error} again={again} />;
  if (!items || items.length === 0) return null;
  return (
    <section aria-labelledby="sign-links">
      <Title order={3} size="h5" mb={4} id="sign-links">
        Asked to sign
      </Title>
      <Stack gap="xs">
        {items.map((link) => (
          <Group key={link.id} gap="xs" justify="space-between" wrap="nowrap">
            <Text size="sm" className="breaks">
              {link.workerName} as {link.role}
              <Text span size="xs" c="dimmed" display="block">
                Asked {link.requestedBy !== null && `by ${link.requestedBy} `}
                <Time at={link.createdAt} />, until <Time at={link.expiresAt} exact />
              </Text>
            </Text>
            {mayWrite && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="red"
                aria-label={`Withdraw the link for ${link.workerName} as ${link.role}`}
                onClick={() => setWithdrawing(link)}
              >
                Withdraw
              </Button>
            )}
          </Group>
        ))}
      </Stack>
      {more && (
        <Button variant="default" size="xs" mt="xs" loading={loadingMore} onClick={more}>
          Show more
        </Button>
      )}
      {withdrawing && (
        <Confirm
          title="Withdraw the link"
          label="Withdraw"
          close={() => setWithdrawing(null)}
          act={async () => {
            await call('DELETE', `/damc/sign-requests/${withdrawing.id}`);
            await client.invalidateQueries({ queryKey: [linksNoun] });
            showDone('The link was withdrawn.');
          }}
        >
          {withdrawing.workerName} can no longer sign as {withdrawing.role} by it. What a device signed
          without a network and has not sent yet is refused, too.
        </Confirm>
      )}
    </section>
  );
}
