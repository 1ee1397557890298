/** One delivery: what is sent, and every attempt with its response. */
import { Accordion, Anchor, Button, Code as CodeBlock, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { call } from '../api/call.ts';
import { useMayWrite } from '../api/session.ts';
import { Details } from '../frame/details.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { PageHead } from '../frame/page-head.tsx';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { Code, Copy, Status, Time } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Attempt, deliveryQuery, endpointQuery, type WholeDelivery } from './endpoint.ts';

export function DeliveryPage() {
  const { deliveryId } = useParams({ strict: false }) as { deliveryId: string };
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(deliveryId));
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  if (!delivery) return <LoadingRows />;
  return <Whole delivery={delivery} />;
}

function Whole({ delivery }: { delivery: WholeDelivery }) {
  const mayWrite = useMayWrite();
  return (
    <>
      <PageHead
        title={delivery.type}
        back={{ to: '/webhooks?tab=deliveries', label: 'Delivery log' }}
        about={
          <Group mt={4}>
            <Status value={delivery.status} />
          </Group>
        }
        actions={mayWrite && <RetryButton delivery={delivery} />}
      />
      <Stack gap="lg">
        <Details
          items={[
            ['Endpoint', <EndpointLink key="endpoint" id={delivery.endpointId} />],
            ['Event', <Code key="event" value={delivery.eventId} label="event id" whole />],
            ['Delivery', <Code key="delivery" value={delivery.id} label="delivery id" whole />],
            ['Created', <Time key="created" at={delivery.createdAt} exact />],
            [
              'Next attempt',
              delivery.nextAttemptAt === null ? (
                'none'
              ) : (
                <Time key="next" at={delivery.nextAttemptAt} exact />
              ),
            ],
          ]}
        />
        <section>
          <Title order={2} size="h4" mb="xs">
            Attempts
          </Title>
          <Attempts attempts={delivery.attempts} status={delivery.status} />
        </section>
        <section>
          <Group gap={4} mb="xs">
            <Title order={2} size="h4">
              Body
            </Title>
            <Copy value={delivery.envelope} label="Copy body" />
          </Group>
          <Text size="xs" c="dimmed" mb={6}>
            Shown indented; the body is sent and signed without added spaces.
          </Text>
          <CodeBlock block>{pretty(delivery.envelope)}</CodeBlock>
        </section>
      </Stack>
    </>
  );
}

function EndpointLink({ id }: { id: string }) {
  const { data } = useQuery(endpointQuery(id));
  return (
    <Anchor component={Link} to={pathTo('/webhooks/$endpointId', id)} size="sm">
      {data?.url ?? id}
    </Anchor>
  );
}

function RetryButton({ delivery }: { delivery: WholeDelivery }) {
  const client = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => call('POST', `/platform/webhooks/deliveries/${delivery.id}/retry`),
    async onSuccess() {
      showDone('The delivery is being retried.');
      await client.invalidateQueries({ queryKey: ['deliveries'] });
    },
  });
  return (
    <Button
      variant={delivery.status === 'failed' ? 'filled' : 'default'}
      onClick={() => retrying.mutate()}
      loading={retrying.isPending}
      leftSection={<Icon name="again" size={16} />}
    >
      Retry now
    </Button>
  );
}

function Attempts({ attempts, status }: Pick<WholeDelivery, 'attempts' | 'status'>) {
  if (attempts.length === 0) {
    return (
      <Text c="dimmed" size="sm">
        {status === 'skipped'
          ? 'Nothing was sent because the endpoint was disabled. Enable it, then retry, or replay all skipped deliveries.'
          : 'Nothing has been sent yet. This page updates itself.'}
      </Text>
    );
  }
  return (
    <Accordion variant="contained" multiple>
      {attempts.toReversed().map((attempt) => (
        <Accordion.Item key={attempt.number} value={String(attempt.number)}>
          <Accordion.Control>
            <Group justify="space-between" gap="xs" pr="sm">
              <Text size="sm" fw={550}>
                Attempt {attempt.number}: {outcome(attempt)}
              </Text>
              <Text size="xs" c="dimmed" component="span">
                <Time at={attempt.at} exact />, {attempt.durationMs} ms
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xs">
              {Object.keys(attempt.responseHeaders).length > 0 && (
                <CodeBlock block aria-label="Response headers">
                  {Object.entries(attempt.responseHeaders)
                    .map(([name, value]) => `${name}: ${value}`)
                    .join('\n')}
                </CodeBlock>
              )}
              <CodeBlock block aria-label="Response body">
                {attempt.responseBody === '' ? '(no body)' : attempt.responseBody}
              </CodeBlock>
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function outcome({ statusCode, error }: Attempt): string {
  if (error !== null) return error;
  return statusCode === null ? 'no response' : `answered ${statusCode}`;
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
