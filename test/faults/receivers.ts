/** The receivers: HTTPS servers that check every signature on their own, misbehave for a while, and remember all they got. */
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type Received, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { type Client, oraclePatienceMs } from './client.ts';
import type { Random } from './random.ts';
import { Violation } from './violation.ts';

/** How a receiver answers; all but `well`, `slow` and `held`, which answers with the next change, make the attempt fail. */
export type Mood = 'well' | 'slow' | 'held' | 'error' | 'hang' | 'reset';

/** What came of one event. */
export interface Arrival {
  body: string;
  type: string;
  accepted: number;
  /** Attempts that the receiver made fail, or might have by its slowness. */
  troubled: number;
}

export interface Held {
  eventId: string;
  /** Whether the sender still waits for the answer. */
  isWaiting(): boolean;
  answer(): void;
}

export interface Subscription {
  name: string;
  eventTypes: string[];
  enabled: boolean;
  endpointId: string;
  mood: Mood;
  /** Answers that wait. */
  held: Held[];
  arrivals: Map<string, Arrival>;
}

export interface Receivers {
  subscriptions: Subscription[];
  setMood(mood: Mood): void;
  /** Some of those that may misbehave do so from now on, each for a while. */
  misbehave(random: Random): void;
  figures(): { received: number; duplicates: number };
  close(): Promise<void>;
}

const slowMs = 500;
const longestTroubleMs = 2_000;
/** On a busy machine an attempt may be out of time before its receiver saw it: nobody can tell whose fault that was. */
export const outOfTime = /^No complete response within /;
const deactivated = 'vault.deactivated';
const reactivated = 'vault.reactivated';

const confirmed = 'record.anchor.confirmed';
const reorged = 'anchor.reorged';
const ofFiles = ['file.anchor.confirmed', 'file.validation.completed', 'file.transfer.completed'];
const ofAssets = 'maintenance.anchor.confirmed';
const all = [deactivated, reactivated, confirmed, reorged, ...ofFiles, ofAssets];

const plans = [
  { name: 'steady', body: { eventTypes: all } },
  { name: 'moody', body: { eventTypes: all } },
  { name: 'anchors', body: { eventTypes: [confirmed, reorged] } },
  { name: 'files', body: { eventTypes: ofFiles } },
  { name: 'deactivations', body: { eventTypes: [deactivated] } },
  { name: 'reactivations', body: { eventTypes: [reactivated], rateLimit: 500 } },
  { name: 'disabled', body: { eventTypes: all, enabled: false } },
];

export async function startReceivers(client: Client, complaints: string[]): Promise<Receivers> {
  const servers: Receiver[] = [];
  const subscriptions: Subscription[] = [];
  for (const { name, body } of plans) {
    const server = await startReceiver();
    servers.push(server);
    const made = await client({
      method: 'POST',
      path: '/platform/webhooks/endpoints',
      body: { url: server.url, ...body },
      patienceMs: oraclePatienceMs,
    });
    if (
      made.outcome !== 'acknowledged' ||
      !(made.json.test.delivered || outOfTime.test(made.json.test.error))
    )
      throw new Violation(`the endpoint ${name} could not be made`, [made.json]);
    const subscription: Subscription = {
      name,
      eventTypes: body.eventTypes,
      enabled: made.json.enabled,
      endpointId: made.json.id,
      mood: 'well',
      held: [],
      arrivals: new Map(),
    };
    subscriptions.push(subscription);
    server.answer = (response, received) => {
      // What matters is remembered per event; a long run would fill the memory otherwise.
      server.received.length = 0;
      receive({ subscription, secret: made.json.secret, complaints }, received, response);
    };
  }

  let recoveries: NodeJS.Timeout[] = [];
  function setMood(mood: Mood): void {
    for (const timer of recoveries) clearTimeout(timer);
    recoveries = [];
    for (const subscription of subscriptions) {
      subscription.mood = mood;
      for (const { answer } of subscription.held.splice(0)) answer();
    }
  }

  const arrivals = () => subscriptions.flatMap((one) => [...one.arrivals.values()]);
  return {
    subscriptions,
    setMood,
    misbehave(random) {
      for (const subscription of subscriptions) {
        if (subscription.name === 'steady' || random.chance(0.5)) continue;
        subscription.mood = random.pick(['error', 'hang', 'reset', 'slow'] as const);
        const recover = () => {
          subscription.mood = 'well';
        };
        recoveries.push(setTimeout(recover, random.between(200, longestTroubleMs)));
      }
    },
    figures: () => ({
      received: arrivals().reduce((sum, { accepted }) => sum + accepted, 0),
      duplicates: arrivals().reduce((sum, { accepted }) => sum + Math.max(0, accepted - 1), 0),
    }),
    async close() {
      setMood('well');
      for (const server of servers) await server.close();
    },
  };
}

interface Desk {
  subscription: Subscription;
  secret: string;
  complaints: string[];
}

function receive(desk: Desk, received: Received, response: ServerResponse): void {
  const { subscription, complaints } = desk;
  const { id, type } = JSON.parse(received.body) as { id: string; type: string };
  const fault = signatureFault(desk.secret, received, id);
  if (fault) complaints.push(`${subscription.name} got ${id} with ${fault}`);
  const arrival = subscription.arrivals.get(id) ?? { body: received.body, type, accepted: 0, troubled: 0 };
  subscription.arrivals.set(id, arrival);
  if (arrival.body !== received.body) complaints.push(`${subscription.name} got ${id} with two bodies`);
  const accept = () => {
    arrival.accepted += 1;
    response.writeHead(204).end();
  };
  const { mood } = subscription;
  if (mood === 'well') accept();
  else arrival.troubled += 1;
  if (mood === 'slow') setTimeout(accept, slowMs).unref();
  if (mood === 'held') {
    const isWaiting = () => !response.destroyed;
    subscription.held.push({ eventId: id, isWaiting, answer: () => isWaiting() && accept() });
  }
  if (mood === 'error') response.writeHead(500).end('broken');
  if (mood === 'reset') response.socket?.destroy();
}

/** Both signatures, each checked without the service's code. */
function signatureFault(secret: string, { headers, body }: Received, id: string): string | null {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  if (headers['x-service-signature'] !== expected) return 'a wrong X-Service-Signature';
  if (headers['webhook-id'] !== id) return 'a wrong webhook-id';
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return null;
  } catch (error) {
    return `a wrong webhook-signature: ${(error as Error).message}`;
  }
}
