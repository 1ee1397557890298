/** `holdfast trigger`: sends a sample event to a receiver, signed like a webhook, without a service and without a change. */
import { Argument, type Command } from 'commander';
import { type EventType, eventTypes } from '../events/catalogue.ts';
import { sampleEventOf } from '../events/sample-event.ts';
import { newId } from '../runtime/ids.ts';
import { print } from './command.ts';
import { createForward, parseSecret, parseTarget, tell } from './forward.ts';
import { readSettings } from './settings.ts';

interface Options {
  forwardTo: URL;
  secret?: string;
  json?: boolean;
}

export function addTriggerCommand(program: Command): void {
  program
    .command('trigger')
    .description(
      'send a sample event of a type to a URL, signed like a webhook; nothing happens in any service',
    )
    .addArgument(new Argument('<type>', 'type of the event').choices([...eventTypes]))
    .requiredOption(
      '--forward-to <url>',
      'POST it there; http and private addresses are allowed',
      parseTarget,
    )
    .option('--secret <secret>', 'signing secret (default: a new one, which is printed)', parseSecret)
    .option('--json', 'print {event, secret, delivered, statusCode, error, durationMs}')
    .action(trigger);
}

async function trigger(type: EventType, options: Options): Promise<void> {
  const { forwardTo, secret } = options;
  const forward = await createForward({ forwardTo, secret }, readSettings(console.error).webhooks);
  try {
    const event = { ...sampleEventOf(type), id: newId('evt'), timestamp: new Date().toISOString() };
    const outcome = await forward.post(event.id, JSON.stringify(event));
    const { statusCode, error, durationMs } = outcome;
    const delivered = error === null;
    print(
      options,
      { event, secret: forward.secret, delivered, statusCode, error, durationMs },
      `${event.timestamp}  ${type}  ${event.id}\n  ${tell(outcome)}\n  signed with ${forward.secret}`,
    );
    if (!delivered) process.exitCode = 1;
  } finally {
    await forward.close();
  }
}
